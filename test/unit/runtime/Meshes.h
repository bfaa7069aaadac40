//===- Meshes.h - random meshes, groups and tensors cut by them -----------===//
#ifndef BRAID_TEST_MESHES_H
#define BRAID_TEST_MESHES_H

#include "core/NumberTypes.h"
#include "core/TensorPart.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace braid::test {

// A mesh of up to three axes, and all its groups of different axes in any order.
struct RandomMesh {
  explicit RandomMesh(std::mt19937 &random) {
    const char *const names[] = {"a", "b", "c"};
    int count = static_cast<int>(random() % 4);
    groups.push_back({});
    for (int32_t i = 0; i < count; ++i) {
      axes.push_back({names[i], static_cast<int32_t>(1 + random() % 3)});
      for (size_t k = groups.size(); k-- > 0;) {
        br_group minor = groups[k], major = groups[k];
        minor.axes[minor.n_axes++] = i;
        groups.push_back(minor);
        if (major.n_axes == 0)
          continue;
        std::copy_backward(major.axes, major.axes + major.n_axes, major.axes + major.n_axes + 1);
        major.axes[0] = i, ++major.n_axes;
        groups.push_back(major);
      }
    }
  }
  std::vector<br_axis> axes;
  std::vector<br_group> groups;
};

// A tensor that the ranks of a mesh hold in any way that a program may ask for.
struct RandomTensor {
  explicit RandomTensor(std::mt19937 &random, br_dtype dtype = BR_I32) : mesh(random) {
    model.mesh = mesh.axes.data(), model.n_axes = static_cast<int32_t>(mesh.axes.size());
    model.groups = mesh.groups.data(), model.n_groups = static_cast<int32_t>(mesh.groups.size());
    tensor.name = "t", tensor.cause = "parameters", tensor.dtype = dtype, tensor.checkpoint = 1;
    tensor.rank = static_cast<int32_t>(random() % 4);
    // Each axis cuts one dim, the flat order, or nothing.
    std::vector<std::vector<int32_t>> cuts(tensor.rank + 2);
    for (int32_t axis = 0; axis < model.n_axes; ++axis)
      cuts[random() % cuts.size()].push_back(axis);
    for (std::vector<int32_t> &cut : cuts)
      std::shuffle(cut.begin(), cut.end(), random);
    for (int32_t i = 0; i < tensor.rank; ++i)
      tensor.dims[i] = groupOf(cuts[i]);
    tensor.flat = groupOf(cuts[tensor.rank]);
    for (int32_t i = 0; i < tensor.rank; ++i)
      tensor.shape[i] = sizeOf(tensor.dims[i]) * static_cast<int64_t>(1 + random() % 5);
    order.resize(tensor.rank);
    for (int i = 0; i < tensor.rank; ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    gap = sizeOf(tensor.flat) == 1 ? static_cast<int64_t>(random() % 2) : 0;
    finish();
  }
  RandomTensor(const RandomTensor &) = delete;

  // Another mesh's tensor of `like`'s shape; cuts that do not divide it are undone.
  void reshape(const RandomTensor &like) {
    if (tensor.rank != like.tensor.rank) {
      order = like.order;
      std::fill(tensor.dims, tensor.dims + BR_MAX_RANK, 0);
    }
    tensor.rank = like.tensor.rank, tensor.dtype = like.tensor.dtype;
    std::copy_n(like.tensor.shape, BR_MAX_RANK, tensor.shape);
    for (int32_t i = 0; i < tensor.rank; ++i)
      if (tensor.shape[i] % sizeOf(tensor.dims[i]) != 0)
        tensor.dims[i] = 0;
    finish();
  }

  int64_t sizeOf(int32_t group) const {
    int64_t size = 1;
    for (int32_t i = 0; i < mesh.groups[group].n_axes; ++i)
      size *= mesh.axes[mesh.groups[group].axes[i]].size;
    return size;
  }
  int32_t groupOf(const std::vector<int32_t> &axes) const {
    auto at = std::find_if(mesh.groups.begin(), mesh.groups.end(), [&](const br_group &g) {
      return std::equal(g.axes, g.axes + g.n_axes, axes.begin(), axes.end());
    });
    // Not every order of three axes is there.
    return at == mesh.groups.end() ? 0 : static_cast<int32_t>(at - mesh.groups.begin());
  }

  RandomMesh mesh;
  br_model model{};
  br_tensor tensor{};
  std::vector<int> order; // of the dims in memory, major first
  int64_t gap;            // between the rows of what is not flat
  std::string text;

private:
  void finish() {
    int64_t stride = 1, extent = 1;
    for (size_t i = order.size(); i-- > 0;) {
      tensor.stride[order[i]] = stride;
      extent = tensor.shape[order[i]] / sizeOf(tensor.dims[order[i]]);
      stride = stride * extent + (i + 1 == order.size() ? gap : 0);
    }
    tensor.bytes = stride * elementSize(tensor.dtype);
    if (int64_t ranks = sizeOf(tensor.flat); ranks > 1)
      tensor.bytes = (stride + ranks - 1) / ranks * elementSize(tensor.dtype);
    text = "[";
    for (int32_t i = 0; i < tensor.rank; ++i)
      text += std::to_string(tensor.shape[i]) + "/" + std::to_string(sizeOf(tensor.dims[i])) + ":" +
              std::to_string(tensor.stride[i]) + " ";
    text += "] flat " + std::to_string(sizeOf(tensor.flat));
  }
};

} // namespace braid::test
#endif // BRAID_TEST_MESHES_H
