"""The tree in the docstring of `core.errors` is the tree of the classes."""

import inspect
import re

import pytest

from core import errors

DRAWN = re.compile(r"^ {4}([| ]*)(?:\|-- |`-- )?([A-Z]\w+)")


def drawn_tree():
    """Read {name: parent's name} from the drawing; four columns are one level."""
    path, tree = [], {}
    for line in errors.__doc__.splitlines():
        found = DRAWN.match(line)
        if found:
            depth = line.index(found.group(2)) // 4 - 1
            path = [*path[:depth], found.group(2)]
            tree[found.group(2)] = path[depth - 1] if depth else "Exception"
    return tree


def real_tree():
    classes = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    return {each.__name__: each.__base__.__name__ for each in classes}


def test_the_drawn_tree_is_the_real_one():
    assert drawn_tree() == real_tree()
    assert len(real_tree()) == 19


def test_every_class_has_one_parent_and_says_what_is_the_case():
    for name in real_tree():
        each = getattr(errors, name)
        assert issubclass(each, errors.RankLensError)
        assert len(each.__bases__) == 1
        assert each.__doc__ != each.__base__.__doc__


def test_a_message_is_shown_as_it_was_given():
    sentence = "The query is empty. Enter a question."

    assert str(errors.RequestInvalid(sentence)) == sentence


@pytest.mark.parametrize(
    ("caught", "raised"),
    [
        (errors.StoreUnavailable, errors.StoreLocked),
        (errors.RequestInvalid, errors.CategoryUnknown),
        (errors.StoreError, errors.HybridUnsupported),
    ],
)
def test_a_narrow_error_is_caught_by_its_wider_name(caught, raised):
    with pytest.raises(caught):
        raise raised("sentence")
