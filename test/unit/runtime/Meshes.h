//===- Meshes.h - random meshes, groups and tensors sharded over them -----===//
#ifndef BRAID_TEST_MESHES_H
#define BRAID_TEST_MESHES_H

#include "base/NumberTypes.h"
#include "core/TensorPart.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace braid::test {

// A random mesh of up to three axes, with all groups of different axes, in many orders.
class RandomMesh {
public:
  explicit RandomMesh(std::mt19937 &random) {
    const char *const names[] = {"a", "b", "c"};
    int count = static_cast<int>(random() % 4);
    for (int32_t i = 0; i < count; ++i)
      addAxis({names[i], static_cast<int32_t>(1 + random() % 3)});
  }
  explicit RandomMesh(int ranks) { addAxis({"dp", ranks}); }

  int64_t sizeOf(int32_t group) const {
    int64_t size = 1;
    for (int32_t i = 0; i < groups[group].n_axes; ++i)
      size *= axes[groups[group].axes[i]].size;
    return size;
  }
  int32_t groupOf(const std::vector<int32_t> &list) const {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const br_group &g) {
      return std::equal(g.axes, g.axes + g.n_axes, list.begin(), list.end());
    });
    // Some orders of three axes are missing.
    return at == groups.end() ? 0 : static_cast<int32_t>(at - groups.begin());
  }
  void addTo(br_model &model) const {
    model.mesh = axes.data(), model.n_axes = static_cast<int32_t>(axes.size());
    model.groups = groups.data(), model.n_groups = static_cast<int32_t>(groups.size());
  }

  // Each axis shards one dim, the flat order, or nothing. A dim that the axis does not divide stays whole. Some dims
  // have two or three fused parts.
  void shard(br_tensor &t, std::mt19937 &random) const {
    std::vector<std::vector<int32_t>> lists(t.rank + 2);
    for (size_t axis = 0; axis < axes.size(); ++axis)
      lists[random() % lists.size()].push_back(static_cast<int32_t>(axis));
    for (std::vector<int32_t> &list : lists)
      std::shuffle(list.begin(), list.end(), random);
    for (int32_t i = 0; i < t.rank; ++i) {
      t.dims[i] = groupOf(lists[i]);
      if (t.shape[i] % sizeOf(t.dims[i]) != 0)
        t.dims[i] = 0;
      const int32_t parts = std::vector<int32_t>{0, 0, 1, 2, 3}[random() % 5];
      t.fused[i] = parts > 0 && t.shape[i] % (parts * sizeOf(t.dims[i])) == 0 ? parts : 0;
    }
    t.flat = groupOf(lists[t.rank]);
  }
  // Row-major, or with dims in any order and, if not flat, with gaps.
  void lay(br_tensor &t, std::mt19937 &random, bool anyhow) const {
    std::vector<int> order(t.rank);
    std::iota(order.begin(), order.end(), 0);
    if (anyhow)
      std::shuffle(order.begin(), order.end(), random);
    const int64_t ranks = sizeOf(t.flat), gap = anyhow && ranks == 1 ? static_cast<int64_t>(random() % 2) : 0;
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      t.stride[order[i]] = stride;
      stride *= t.shape[order[i]] / sizeOf(t.dims[order[i]]);
      stride += i + 1 == order.size() ? gap : 0;
    }
    t.bytes = (stride + ranks - 1) / ranks * elementSize(t.dtype);
  }

  std::vector<br_axis> axes;
  std::vector<br_group> groups = {{}};

private:
  void addAxis(br_axis axis) {
    const int32_t number = static_cast<int32_t>(axes.size());
    axes.push_back(axis);
    for (size_t k = groups.size(); k-- > 0;) {
      br_group minor = groups[k], major = groups[k];
      minor.axes[minor.n_axes++] = number;
      groups.push_back(minor);
      if (major.n_axes == 0)
        continue;
      std::copy_backward(major.axes, major.axes + major.n_axes, major.axes + major.n_axes + 1);
      major.axes[0] = number, ++major.n_axes;
      groups.push_back(major);
    }
  }
};

// A tensor in a random sharding that a program may use.
struct RandomTensor {
  explicit RandomTensor(std::mt19937 &random, br_dtype dtype = BR_I32) : mesh(random) {
    std::vector<int64_t> shape(random() % 4);
    for (int64_t &extent : shape)
      extent = std::vector<int64_t>{1, 2, 3, 5, 6, 12, 18}[random() % 7];
    fill(random, shape, dtype);
  }
  // Another sharding of a tensor of `like`'s shape.
  RandomTensor(std::mt19937 &random, const RandomTensor &like) : mesh(random) {
    fill(random, {like.tensor.shape, like.tensor.shape + like.tensor.rank}, like.tensor.dtype);
  }
  RandomTensor(const RandomTensor &) = delete;

  RandomMesh mesh;
  br_model model{};
  br_tensor tensor{};
  std::string text;

private:
  void fill(std::mt19937 &random, const std::vector<int64_t> &shape, br_dtype dtype) {
    mesh.addTo(model);
    tensor.name = "t", tensor.category = BR_PARAMETERS, tensor.dtype = dtype, tensor.checkpoint = 1;
    tensor.rank = static_cast<int32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), tensor.shape);
    mesh.shard(tensor, random);
    mesh.lay(tensor, random, true);
    text = "[ ";
    for (int32_t i = 0; i < tensor.rank; ++i)
      text += std::to_string(tensor.shape[i]) + "/" + std::to_string(mesh.sizeOf(tensor.dims[i])) + "x" +
              std::to_string(tensor.fused[i]) + ":" + std::to_string(tensor.stride[i]) + " ";
    text += "] flat " + std::to_string(mesh.sizeOf(tensor.flat));
  }
};

} // namespace braid::test
#endif // BRAID_TEST_MESHES_H
