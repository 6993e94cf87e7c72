"""Cosines against numpy, planes against scikit-learn, and planes that do not flip."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from torch import Tensor

from explorer.labs.context.word_jobs import projections
from explorer.maths.states import cosines, pairwise, principal_plane


def vectors(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_cosines_are_scikit_learn_s() -> None:
    points = vectors(5, 40)
    found = cosines(points)
    assert np.allclose(found.numpy(), cosine_similarity(points.numpy()), atol=1e-6)
    assert torch.equal(found, found.T)
    assert torch.allclose(found.diagonal(), torch.ones(5, dtype=torch.float64), atol=1e-12)


def test_the_same_vector_has_a_cosine_of_one_and_a_vector_of_zeros_none() -> None:
    point = vectors(1, 7)
    found = cosines(torch.cat([point, 3 * point, -point, torch.zeros(1, 7)]))
    assert found[0].tolist() == pytest.approx([1, 1, -1, 0], abs=1e-12)
    assert found.abs().max() <= 1


def test_pairwise_is_the_diagonal_of_all_cosines() -> None:
    first, second = vectors(6, 9), vectors(6, 9, seed=1)
    expected = cosine_similarity(first.numpy(), second.numpy()).diagonal()
    assert np.allclose(pairwise(first, second).numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_a_plane_is_scikit_learn_s_up_to_sign(count: int) -> None:
    points = vectors(count, 30, seed=count)
    plane, explained = principal_plane(points, None)
    kept = min(2, count - 1)
    pca = PCA(kept).fit(points.numpy().astype("float64"))
    expected = pca.transform(points.numpy())
    for axis in range(kept):
        sign = np.sign(expected[:, axis] @ plane[:, axis].numpy())
        assert np.allclose(plane[:, axis].numpy(), sign * expected[:, axis], atol=1e-6)
    assert explained[:kept] == pytest.approx(list(pca.explained_variance_ratio_), abs=1e-9)
    if count == 2:
        assert explained == (pytest.approx(1), 0.0)
        assert torch.equal(plane[:, 1], torch.zeros(2, dtype=torch.float64))


def test_a_plane_does_not_flip_whatever_the_signs_below_it() -> None:
    points = vectors(6, 20) * torch.tensor([9.0, 4.0, *[1.0] * 18])
    below, _ = principal_plane(points, None)
    near = points + 0.01 * vectors(6, 20, seed=3)
    for signs in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        turned = below * torch.tensor(signs)
        plane, _ = principal_plane(near, turned)
        assert torch.allclose(plane, turned, atol=0.2)
        assert ((plane * turned).sum(0) > 0).all()


def test_the_first_plane_s_signs_do_not_depend_on_the_library() -> None:
    plane, _ = principal_plane(vectors(6, 20), None)
    for axis in range(2):
        assert plane[plane[:, axis].abs().argmax(), axis] > 0


def test_points_that_are_one_point_have_no_variance() -> None:
    same = vectors(1, 50).repeat(4, 1)
    plane, explained = principal_plane(same, None)
    assert explained == (0.0, 0.0)
    assert torch.equal(plane, torch.zeros(4, 2, dtype=torch.float64))


def test_a_layer_without_variance_does_not_forget_the_direction() -> None:
    points = vectors(5, 20)
    first, nothing, last = projections(torch.stack([points, points[:1].repeat(5, 1), points]))
    assert nothing.explained == (0.0, 0.0)
    assert np.allclose(first.points, last.points)
    assert sum(first.explained) <= 1
