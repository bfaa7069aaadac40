//===- CheckpointIndex.cpp - the files that hold a tensor -----------------===//

#include "checkpoint/CheckpointIndex.h"

#include "base/Checksum.h"
#include "base/Error.h"
#include "base/File.h"
#include "base/Json.h"
#include "base/NumberTypes.h"
#include "base/Safetensors.h"
#include "core/Mesh.h"
#include "core/Model.h"
#include "core/TensorPart.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

using namespace braid;
using nlohmann::json;
using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::vector<const br_tensor *> braid::savedTensorsOf(const br_model &model, int rank) {
  std::vector<const br_tensor *> saved;
  for (const br_tensor &t : tensorsOf(model))
    if (t.checkpoint && isFirstHolder(model, t, rank) && (rank == 0 || savedPartOf(model, t, rank).places() > 0))
      saved.push_back(&t);
  return saved;
}

std::vector<int64_t> braid::savedShapeOf(const br_model &model, const br_tensor &tensor, int rank) {
  TensorPart part = savedPartOf(model, tensor, rank);
  if (placeInGroup(model, tensor.flat, rank).size > 1)
    return {part.places()};
  std::vector<int64_t> shape(part.rank);
  for (int dim = 0; dim < part.rank; ++dim)
    shape[dim] = part.indices(dim);
  return shape;
}

static ordered_json namesOf(const br_model &model, int32_t group) {
  ordered_json names = ordered_json::array();
  for (int32_t i = 0; group != 0 && i < model.groups[group].n_axes; ++i)
    names.push_back(model.mesh[model.groups[group].axes[i]].name);
  return names;
}

std::string braid::describeParts(const br_model &model) {
  ordered_json mesh = ordered_json::array();
  for (int32_t i = 0; i < model.n_axes; ++i)
    mesh.push_back({model.mesh[i].name, model.mesh[i].size});
  std::string text = ",\"mesh\":" + mesh.dump() + ",\"tensors\":{";
  const char *separator = "\n";
  std::set<std::string_view> described;
  for (const br_model *kind = &model; kind; kind = kind->others)
    for (const br_tensor &t : tensorsOf(*kind)) {
      if (!t.checkpoint || !described.insert(t.name).second)
        continue;
      ordered_json entry = {{"dtype", typeName(t.dtype)}, {"shape", std::vector<int64_t>(t.shape, t.shape + t.rank)}};
      if (std::any_of(t.dims, t.dims + t.rank, [](int32_t group) { return group != 0; }))
        for (int32_t i = 0; i < t.rank; ++i)
          entry["dims"].push_back(namesOf(model, t.dims[i]));
      if (std::any_of(t.fused, t.fused + t.rank, [](int32_t parts) { return parts > 1; }))
        entry["fused"] = std::vector<int32_t>(t.fused, t.fused + t.rank);
      if (t.flat != 0) {
        entry["flat"] = namesOf(model, t.flat);
        entry["order"] = flatOrder(t);
      }
      if (t.at_axis != 0)
        entry["at"] = {model.mesh[t.at_axis - 1].name, t.at};
      text += separator + json(t.name).dump() + ":" + entry.dump();
      separator = ",\n";
    }
  return text + "}}\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

constexpr uint64_t maxIndexBytes = 64 << 20;
constexpr int64_t maxRanks = 1 << 20, maxParts = 1 << 10;

const json &member(const json &object, const char *key, const std::string &where) {
  auto at = object.find(key);
  if (at == object.end())
    fail(where, "it lacks '", key, "'");
  return *at;
}

bool isCount(const json &value) { return value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX; }

br_dtype typeNamed(const json &name, const std::string &where) {
  for (br_dtype type : {BR_F64, BR_F32, BR_BF16, BR_I32, BR_I64, BR_I1, BR_I8})
    if (name == typeName(type))
      return type;
  fail(where, "has the unknown type ", name.dump());
}

// Sets the strides of a dense tensor with its dims in this order; row-major by default.
void setStrides(br_tensor &t, const json *order, const std::string &where) {
  std::vector<int> dims(t.rank);
  std::iota(dims.begin(), dims.end(), 0);
  if (order) {
    if (!order->is_array() || !std::is_permutation(order->begin(), order->end(), dims.begin(), dims.end()))
      fail(where, "has the order ", order->dump(), ", which does not name each of its ", t.rank, " dims once");
    dims = order->get<std::vector<int>>();
  }
  int64_t stride = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    t.stride[*dim] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(t.shape[*dim], 1), &stride) || stride > INT64_MAX / 16)
      fail(where, "has a shape whose size overflows");
  }
}

} // namespace

CheckpointIndex::CheckpointIndex(const std::string &path)
    : where(concat("'", path, "' is not a usable index of a checkpoint: ")), groups(1) {
  const std::string text = readText(path, maxIndexBytes);
  sealed = text.starts_with(kSealedIndex);
  if (sealed && !braid::isSealed(text, kSealedIndex.size()))
    fail("'", path, "' is damaged: it does not have the checksum that was saved");
  json root = parseJson(text, where);
  if (!root.is_object())
    fail(where, "it is not a JSON object; the file is truncated or corrupt");

  if (!sealed && root.contains(kIndexChecksum))
    fail("'", path, "' is damaged: its checksum does not come first");
  const json &job = member(root, "job", where);
  if (!job.is_object())
    fail(where, "its 'job' is not an object");
  for (const auto &[key, value] : job.items()) {
    if (!value.is_string())
      fail(where, "its 'job' holds '", key, "', which is not a string");
    strings[key] = value.get<std::string>();
  }
  readMesh(member(root, "mesh", where));
  const json &entries = member(root, "tensors", where);
  if (!entries.is_object())
    fail(where, "its 'tensors' is not an object");
  for (const auto &[name, value] : entries.items())
    readTensor(name, value);
  model.tensors = tensors.data(), model.n_tensors = static_cast<int32_t>(tensors.size());
  model.mesh = axes.data(), model.n_axes = static_cast<int32_t>(axes.size());
  model.groups = groups.data(), model.n_groups = static_cast<int32_t>(groups.size());
}

template <class Json> void CheckpointIndex::readMesh(const Json &mesh) {
  int64_t ranks = 1;
  if (!mesh.is_array() || mesh.size() > BR_MAX_AXES)
    fail(where, "its mesh is not a list of up to ", BR_MAX_AXES, " axes");
  for (const json &axis : mesh) {
    if (!axis.is_array() || axis.size() != 2 || !axis[0].is_string() || !isCount(axis[1]) || axis[1] == 0 ||
        axis[1].template get<int64_t>() > maxRanks || (ranks *= axis[1].template get<int64_t>()) > maxRanks)
      fail(where, "its mesh has the axis ", axis.dump(), ", which is not a name and a sensible size");
    names.push_back(axis[0].template get<std::string>());
    for (const br_axis &other : axes)
      if (other.name == names.back())
        fail(where, "its mesh has two axes '", other.name, "'");
    axes.push_back({names.back().c_str(), axis[1].template get<int32_t>()});
  }
}

// Reads the axis and the coordinate of the ranks that saved the tensor.
template <class Json> void CheckpointIndex::readHolder(const std::string &about, const Json &at, br_tensor &t) {
  auto axis = axes.end();
  if (at.is_array() && at.size() == 2 && at[0].is_string() && isCount(at[1]))
    axis = std::find_if(axes.begin(), axes.end(), [&](const br_axis &other) { return at[0] == other.name; });
  if (axis == axes.end() || at[1].template get<int64_t>() >= axis->size)
    fail(about, "is at ", at.dump(), ", which is not an axis of its mesh and a coordinate along it");
  t.at_axis = static_cast<int32_t>(axis - axes.begin()) + 1;
  t.at = at[1].template get<int32_t>();
}

template <class Json> void CheckpointIndex::readTensor(const std::string &name, const Json &value) {
  const std::string about = concat(where, "tensor '", name, "' ");
  names.push_back(name);
  br_tensor t{};
  t.name = names.back().c_str(), t.checkpoint = 1, t.bytes = UINT64_MAX;
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape"))
    fail(about, "lacks dtype or shape");
  t.dtype = typeNamed(value["dtype"], about);
  const json &shape = value["shape"];
  if (!shape.is_array() || shape.size() > BR_MAX_RANK || !std::all_of(shape.begin(), shape.end(), isCount))
    fail(about, "has a malformed shape");
  t.rank = static_cast<int32_t>(shape.size());
  for (int32_t i = 0; i < t.rank; ++i)
    t.shape[i] = shape[i].template get<int64_t>();
  setStrides(t, value.contains("order") ? &value["order"] : nullptr, about);

  if (value.contains("fused"))
    readFused(about, value["fused"], t);
  if (value.contains("at"))
    readHolder(about, value["at"], t);
  std::vector<bool> used(axes.size());
  if (value.contains("dims")) {
    const json &dims = value["dims"];
    if (!dims.is_array() || dims.size() != shape.size())
      fail(about, "has ", dims.size(), " shardings for ", t.rank, " dims");
    for (int32_t i = 0; i < t.rank; ++i) {
      t.dims[i] = groupOf(about, dims[i], used);
      int64_t parts = 1;
      for (int32_t a = 0; a < groups[t.dims[i]].n_axes; ++a)
        parts *= axes[groups[t.dims[i]].axes[a]].size;
      parts *= std::max(t.fused[i], 1);
      if (t.shape[i] % parts != 0)
        fail(about, "has dim ", i, " of ", t.shape[i], " elements sharded in ", parts,
             " blocks, which do not divide it");
    }
  }
  if (value.contains("flat"))
    t.flat = groupOf(about, value["flat"], used);
  tensors.push_back(t);
}

// Reads how many fused parts lie side by side in each dim.
template <class Json> void CheckpointIndex::readFused(const std::string &about, const Json &fused, br_tensor &t) {
  if (!fused.is_array() || fused.size() != static_cast<size_t>(t.rank) ||
      !std::all_of(fused.begin(), fused.end(), [](const json &parts) { return isCount(parts) && parts <= maxParts; }))
    fail(about, "is of fused parts ", fused.dump(), ", which is not a small number for each of its dims");
  for (int32_t i = 0; i < t.rank; ++i)
    t.fused[i] = fused[i].template get<int32_t>();
}

// Returns the id of the group with these axes; no axis may shard the tensor twice.
template <class Json>
int32_t CheckpointIndex::groupOf(const std::string &about, const Json &list, std::vector<bool> &used) {
  br_group group{};
  if (!list.is_array())
    fail(about, "is sharded over ", list.dump(), ", which is not a list of mesh axes");
  for (const json &name : list) {
    auto axis = std::find_if(axes.begin(), axes.end(), [&](const br_axis &a) { return name == a.name; });
    size_t number = static_cast<size_t>(axis - axes.begin());
    if (axis == axes.end() || used[number])
      fail(about, "is sharded over ", axis == axes.end() ? "unknown mesh axis " : "mesh axis ", name.dump(),
           axis == axes.end() ? "" : " twice");
    used[number] = true;
    group.axes[group.n_axes++] = static_cast<int32_t>(number);
  }
  auto known = std::find_if(groups.begin(), groups.end(), [&](const br_group &g) {
    return std::equal(g.axes, g.axes + g.n_axes, group.axes, group.axes + group.n_axes);
  });
  if (known == groups.end())
    known = groups.insert(groups.end(), group);
  return static_cast<int32_t>(known - groups.begin());
}
