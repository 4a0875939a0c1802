"""Settings: where a value comes from, and what is said of a wrong one."""

import os
from pathlib import Path

import pytest

from core.errors import SettingsInvalid
from core.model.lookup import FilterPolicy
from core.model.search import Ranker, SearchMode
from core.settings import FILE_NAME, load_settings, project_root


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith("RANKLENS_"):
            monkeypatch.delenv(name)


@pytest.fixture
def write(tmp_path):
    def written(text: str) -> Path:
        (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
        return tmp_path

    return written


def faults(folder):
    with pytest.raises(SettingsInvalid) as caught:
        load_settings(folder)
    return str(caught.value)


def test_the_defaults_are_those_of_the_contract(tmp_path):
    settings = load_settings(tmp_path)

    assert settings.milvus.collection == "biz_hybrid"
    assert settings.milvus.timeout_seconds == 10
    assert settings.embedding.model == "bundled"
    assert settings.retrieval.search.mode is SearchMode.HYBRID
    assert settings.retrieval.hybrid.ranker is Ranker.RRF
    assert settings.retrieval.hybrid.rrf_k == 60
    assert (settings.retrieval.hybrid.weight_dense, settings.retrieval.hybrid.weight_sparse) == (1.0, 0.8)
    assert settings.retrieval.filter.policy is FilterPolicy.FALLBACK
    assert settings.retrieval.filter.retry_unfiltered_on_low_quality is True
    assert settings.retrieval.normalization.reference_threshold is None
    assert (settings.rag.retrieve_k, settings.rag.return_n) == (20, 5)
    assert (settings.rag.max_chunks_per_document, settings.rag.context_budget_characters) == (2, 6000)
    assert (settings.console.language, settings.console.read_only) == ("auto", False)


def test_the_environment_is_stronger_than_the_file_and_the_file_than_the_defaults(write, monkeypatch):
    folder = write('[milvus]\ncollection = "from_file"\nuri = "http://file:1"\n[rag]\nreturn_n = 3\n')
    monkeypatch.setenv("RANKLENS_MILVUS__URI", "http://environment:2")

    settings = load_settings(folder)

    assert settings.milvus.uri == "http://environment:2"
    assert settings.milvus.collection == "from_file"
    assert settings.rag.return_n == 3
    assert settings.rag.retrieve_k == 20


def test_explicit_values_are_stronger_than_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKLENS_RAG__RETURN_N", "3")

    assert load_settings(tmp_path).rag.return_n == 3
    assert load_settings(tmp_path, rag={"return_n": 4}).rag.return_n == 4


def test_a_nested_setting_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKLENS_RETRIEVAL__SEARCH__MODE", "dense")
    monkeypatch.setenv("RANKLENS_RETRIEVAL__FILTER__RETRY_UNFILTERED_ON_LOW_QUALITY", "false")

    settings = load_settings(tmp_path)

    assert settings.retrieval.search.mode is SearchMode.DENSE
    assert settings.retrieval.filter.retry_unfiltered_on_low_quality is False


def test_all_faults_are_told_at_once_with_their_names(write, monkeypatch):
    folder = write(
        '[milvus]\ncollection = "9 lives"\n[rag]\nreturn_n = 0\n[embedding]\nbatch_size = "many"\n'
    )
    monkeypatch.setenv("RANKLENS_CONSOLE__LANGUAGE", "fr")

    lines = faults(folder).splitlines()

    assert lines[0] == "These settings cannot be used:"
    names = sorted(line.strip().partition(":")[0] for line in lines[1:])
    assert names == ["console.language", "embedding.batch_size", "milvus.collection", "rag.return_n"]


def test_a_fault_names_the_value_that_was_given(write):
    assert "rag.return_n: Input should be greater than or equal to 1 (given: 0)" in faults(
        write("[rag]\nreturn_n = 0\n")
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[rag]\nreturn_n = 30\n", "rag: return_n is 30; it must be at most retrieve_k (20)"),
        ("[rag]\nretrieve_k = 4\n", "rag: return_n is 5; it must be at most retrieve_k (4)"),
        (
            "[chunking]\nsize_tokens = 64\noverlap_tokens = 33\n",
            "chunking: overlap_tokens is 33; it must be at most half of size_tokens (64)",
        ),
    ],
)
def test_two_settings_that_do_not_go_together_are_named_with_both_numbers(write, text, sentence):
    assert sentence in faults(write(text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[rag]\nretrieve_k = 1001\n", "rag.retrieve_k"),
        ("[rag]\nmax_chunks_per_document = 0\n", "rag.max_chunks_per_document"),
        ("[rag]\ncontext_budget_characters = 199\n", "rag.context_budget_characters"),
        ('[rag]\nretrieve_k = "twenty"\n', "rag.retrieve_k"),
        ("[retrieval.hybrid]\nweight_dense = 1.5\n", "retrieval.hybrid.weight_dense"),
        ('[retrieval.hybrid]\nranker = "sum"\n', "retrieval.hybrid.ranker"),
        ("[retrieval.hybrid]\nrrf_k = 0\n", "retrieval.hybrid.rrf_k"),
        ('[retrieval.search]\nmode = "sparse"\n', "retrieval.search.mode"),
        ('[retrieval.filter]\npolicy = "never"\n', "retrieval.filter.policy"),
        (
            "[retrieval.normalization]\nprecise_threshold = 1.5\n",
            "retrieval.normalization.precise_threshold",
        ),
        ("[milvus]\ntimeout_seconds = 0\n", "milvus.timeout_seconds"),
        ('[milvus]\nmetric = "HAMMING"\n', "milvus.metric"),
    ],
)
def test_a_value_outside_its_range_is_refused_by_name(write, text, name):
    assert f"  {name}: " in faults(write(text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[rag]\ntop_k = 3\n", "rag.top_k"),
        ("[milvus]\nurl = 'x'\n", "milvus.url"),
        ("[nonsense]\na = 1\n", "nonsense"),
        ("[retrieval.sorting]\na = 1\n", "retrieval.sorting"),
    ],
)
def test_an_unknown_name_in_the_file_is_refused(write, text, name):
    assert f"  {name}: " in faults(write(text))


def test_an_unknown_name_in_a_section_of_the_environment_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKLENS_RAG__TOP_K", "3")

    assert "  rag.top_k: " in faults(tmp_path)


@pytest.mark.parametrize("name", ["RANKLENS_MILVSU__URI", "RANKLENS_TOP_K"])
def test_an_unknown_section_of_the_environment_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, "3")

    assert f"  {name}: there is no such setting" in faults(tmp_path)


def test_a_section_that_is_no_table_is_refused_by_name(write):
    assert "  milvus: " in faults(write('milvus = "http://x"\n'))


def test_a_section_of_the_environment_that_is_no_table_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKLENS_MILVUS", "http://x")

    assert "milvus" in faults(tmp_path)


def test_a_file_that_is_not_toml_is_named_with_the_place_of_the_fault(write):
    folder = write("[rag]\nreturn_n = = 3\n")

    message = faults(folder)

    assert message.startswith(f"{folder / FILE_NAME} is not valid TOML: ")
    assert "line 2" in message


def test_a_file_that_is_not_utf_8_is_named(tmp_path):
    (tmp_path / FILE_NAME).write_bytes('[milvus]\ncollection = "é"\n'.encode("latin-1"))

    assert str(tmp_path / FILE_NAME) in faults(tmp_path)


def test_a_secret_is_in_no_text_of_the_settings(write, monkeypatch):
    folder = write('[milvus]\ntoken = "root:Milvus-secret"\n')

    settings = load_settings(folder)

    assert settings.milvus.token.get_secret_value() == "root:Milvus-secret"
    for text in (repr(settings), str(settings), repr(settings.milvus), settings.model_dump_json()):
        assert "Milvus-secret" not in text


@pytest.mark.parametrize("line", ['tokn = "31337"', "token = 31337"])
def test_a_secret_that_was_set_wrongly_is_in_no_message(write, line):
    assert "31337" not in faults(write(f"[milvus]\n{line}\n"))


def test_paths_are_taken_from_the_folder_of_the_file_wherever_the_work_starts(write):
    folder = write('data_dir = "store"\n[milvus]\nuri = "lite/base.db"\n')
    deep = folder / "a" / "b"
    deep.mkdir(parents=True)

    settings = load_settings(deep)

    assert settings.data_dir == folder / "store"
    assert settings.milvus_uri == str(folder / "lite" / "base.db")
    assert settings.is_local


def test_the_local_file_lies_in_the_data_folder_when_no_address_is_set(write):
    folder = write('data_dir = "../elsewhere"\n')

    assert load_settings(folder).milvus_uri == str(folder.parent / "elsewhere" / "milvus.db")


def test_an_absolute_path_stays(write, tmp_path):
    folder = write(f"data_dir = '{tmp_path / 'x'}'\n")

    assert load_settings(folder).data_dir == tmp_path / "x"


def test_the_home_folder_is_read_as_such(write, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))

    assert load_settings(write('data_dir = "~/base"\n')).data_dir == tmp_path / "home" / "base"


def test_the_address_of_a_server_is_no_path(write):
    settings = load_settings(write('[milvus]\nuri = "http://localhost:19530"\n'))

    assert settings.milvus_uri == "http://localhost:19530"
    assert not settings.is_local


def test_without_a_file_the_project_or_the_folder_itself_is_the_root(tmp_path):
    project = tmp_path / "project"
    deep = project / "a"
    deep.mkdir(parents=True)

    assert project_root(deep) == deep
    (project / "pyproject.toml").write_text('[project]\nname = "ranklens"\n', encoding="utf-8")
    assert project_root(deep) == project
    (deep / FILE_NAME).write_text("", encoding="utf-8")
    assert project_root(deep) == deep


def test_settings_cannot_be_changed(tmp_path):
    settings = load_settings(tmp_path)

    with pytest.raises(ValueError, match="frozen"):
        settings.rag.return_n = 3
    with pytest.raises(ValueError, match="frozen"):
        settings.data_dir = Path("x")
