//===- Cudnn.cpp - graphs of attention, on the host -----------------------===//
//
// Runs a graph as plain loops over bf16 with sums in f32, in the order of the stream. A row of the scores is recomputed
// from the log-sum-exp when it is needed.
//
//===----------------------------------------------------------------------===//

#include "cuda/CudnnLibrary.h"

#include "Allocations.h"
#include "Failures.h"
#include "Queues.h"
#include "Recorder.h"
#include "Violation.h"
#include "cuda_bf16.h"
#include "cudnn_frontend.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using fe::graph::Tensor_attributes;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

void braid::loadCudnn() {}

cudnnStatus_t fe::detail::create_handle(cudnnHandle_t *handle) {
  if (!shim::injectedFailure("cudnnCreate").empty())
    return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = new cudnnContext{};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t fe::detail::destroy_handle(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t fe::detail::set_stream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
size_t fe::detail::get_backend_version() { return 92800; }
std::string fe::detail::get_backend_version_string() { return "9.28.0"; }
const char *fe::detail::get_error_string(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_NOT_INITIALIZED";
}

namespace {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

using Pieces = std::vector<std::pair<const void *, size_t>>;
enum { Q, K, V, O, Stats, Dout, Dq, Dk, Dv };

// A tensor at the address that a call gives.
struct Operand {
  std::vector<int64_t> dims, strides;
  char *base;

  template <class T> T *row(int64_t b, int64_t head, int64_t position) const {
    return reinterpret_cast<T *>(base) + b * strides[0] + head * strides[1] + position * strides[2];
  }
  float &stat(int64_t b, int64_t head, int64_t position) const { return *row<float>(b, head, position); }
  std::vector<float> get(int64_t b, int64_t head, int64_t position) const {
    const auto *from = row<__nv_bfloat16>(b, head, position);
    return {from, from + dims[3]};
  }
  void put(int64_t b, int64_t head, int64_t position, const float *values) const {
    for (int64_t e = 0; e < dims[3]; ++e)
      row<__nv_bfloat16>(b, head, position)[e] = __nv_bfloat16(values[e]);
  }
  void append(Pieces &pieces) const;
};

void Operand::append(Pieces &pieces) const {
  for (int64_t b = 0; b < dims[0]; ++b)
    for (int64_t s = 0; s < dims[2]; ++s)
      for (int64_t h = 0; h < dims[1]; ++h) {
        const void *from = row<__nv_bfloat16>(b, h, s);
        if (reinterpret_cast<uintptr_t>(from) % 16)
          shim::violation(
              shim::format("attention with a row of heads at %p, which is not a multiple of 16 bytes", from), false);
        pieces.emplace_back(from, dims[3] * sizeof(__nv_bfloat16));
      }
}

float dot(const std::vector<float> &a, const std::vector<float> &b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

void add(float *sum, float factor, const std::vector<float> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    sum[i] += factor * values[i];
}

//===----------------------------------------------------------------------===//
// A call
//===----------------------------------------------------------------------===//

class Call {
public:
  std::vector<Operand> at; // as operands of the node; those of the gradient are there for it alone
  float scale;
  std::optional<int64_t> rightBound;
  char *workspace;
  size_t workspaceBytes;

  void run(const shim::Issue &issue) const;

private:
  bool isGradient() const { return at.size() > Dout; }
  int64_t keyHead(int64_t head) const { return head / (at[Q].dims[1] / at[K].dims[1]); }
  int64_t visible(int64_t query) const {
    return rightBound ? std::min(query + *rightBound + 1, at[K].dims[2]) : at[K].dims[2];
  }
  void check(Pieces &reads, Pieces &writes) const;
  void forward(int64_t b, int64_t h, int64_t s) const;
  void forward() const;
  void backward(int64_t b, int64_t keyHead) const;
  void backward() const;
};

void Call::forward(int64_t b, int64_t h, int64_t s) const {
  const std::vector<float> query = at[Q].get(b, h, s);
  std::vector<float> scores(visible(s)), out(query.size());
  float largest = -INFINITY, sum = 0;
  for (size_t t = 0; t < scores.size(); ++t) {
    scores[t] = scale * dot(query, at[K].get(b, keyHead(h), t));
    largest = std::max(largest, scores[t]);
  }
  for (float &score : scores)
    sum += score = std::exp(score - largest);
  for (size_t t = 0; t < scores.size(); ++t)
    add(out.data(), scores[t] / sum, at[V].get(b, keyHead(h), t));
  at[O].put(b, h, s, out.data());
  at[Stats].stat(b, h, s) = largest + std::log(sum);
}

void Call::forward() const {
  for (int64_t b = 0; b < at[Q].dims[0]; ++b)
    for (int64_t h = 0; h < at[Q].dims[1]; ++h)
      for (int64_t s = 0; s < at[Q].dims[2]; ++s)
        forward(b, h, s);
}

// The query heads of one key head are summed in its dk and dv.
void Call::backward(int64_t b, int64_t keys) const {
  const int64_t group = at[Q].dims[1] / at[K].dims[1], size = at[Q].dims[3], positions = at[K].dims[2];
  std::vector<float> dk(positions * size), dv(dk.size());
  for (int64_t h = keys * group; h < (keys + 1) * group; ++h)
    for (int64_t s = 0; s < at[Q].dims[2]; ++s) {
      const std::vector<float> query = at[Q].get(b, h, s), dout = at[Dout].get(b, h, s);
      const float mean = dot(dout, at[O].get(b, h, s));
      std::vector<float> dq(size);
      for (int64_t t = 0; t < visible(s); ++t) {
        const std::vector<float> key = at[K].get(b, keys, t);
        const float weight = std::exp(scale * dot(query, key) - at[Stats].stat(b, h, s));
        const float score = scale * weight * (dot(dout, at[V].get(b, keys, t)) - mean);
        add(dq.data(), score, key);
        add(&dk[t * size], score, query);
        add(&dv[t * size], weight, dout);
      }
      at[Dq].put(b, h, s, dq.data());
    }
  for (int64_t t = 0; t < positions; ++t) {
    at[Dk].put(b, keys, t, &dk[t * size]);
    at[Dv].put(b, keys, t, &dv[t * size]);
  }
}

void Call::backward() const {
  for (int64_t b = 0; b < at[K].dims[0]; ++b)
    for (int64_t keys = 0; keys < at[K].dims[1]; ++keys)
      backward(b, keys);
}

//===----------------------------------------------------------------------===//
// What is read and written
//===----------------------------------------------------------------------===//

void Call::check(Pieces &reads, Pieces &writes) const {
  for (size_t i = 0; i < at.size(); ++i) {
    const bool isWritten = isGradient() ? i >= Dq : i == O || i == Stats;
    Pieces &pieces = isWritten ? writes : reads;
    if (i == Stats) // contiguous
      pieces.emplace_back(at[i].base, at[i].dims[0] * at[i].strides[0] * sizeof(float));
    else
      at[i].append(pieces);
  }
  if (workspaceBytes)
    writes.emplace_back(workspace, workspaceBytes);
  for (Pieces *pieces : {&reads, &writes})
    for (auto [pointer, bytes] : *pieces) {
      shim::Allocation *allocation = shim::findAllocation(pointer);
      if (!allocation || allocation->device < 0 || !allocation->holds(pointer, bytes))
        shim::violation(shim::format("attention of %zu bytes that are not device memory", bytes), false);
      size_t offset = static_cast<const char *>(pointer) - allocation->base;
      if (pieces == &reads && allocation->shadow->unwritten(offset, bytes) < bytes)
        shim::violation(shim::format("attention of memory that was never written, at byte %zu of allocation %d",
                                     offset + allocation->shadow->unwritten(offset, bytes), allocation->id),
                        false);
      if (pieces == &writes)
        allocation->shadow->written(offset, bytes);
    }
}

void Call::run(const shim::Issue &issue) const {
  const std::string action = std::to_string(issue.action.index);
  shim::launchName = {"attention", issue.action.index < 0 ? nullptr : action.c_str()};
  Pieces reads, writes;
  check(reads, writes);
  std::memset(workspace, 0xff, workspaceBytes); // whatever was there is gone
  if (isGradient())
    backward();
  else
    forward();
  shim::launchName = {};
  if (shim::tracing())
    shim::Line(issue, "attention").pieces("reads", reads).pieces("writes", writes).write(issue.owner);
}

} // namespace

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

std::array<Graph::Tensor, 2> Graph::sdpa(Tensor q, Tensor k, Tensor v, SDPA_attributes its) {
  attributes = its;
  operands = {q, k, v, add({}), add({})};
  return {operands[O], operands[Stats]};
}

std::array<Graph::Tensor, 3> Graph::sdpa_backward(Tensor q, Tensor k, Tensor v, Tensor o, Tensor dout, Tensor stats,
                                                  SDPA_backward_attributes its) {
  attributes = its;
  operands = {q, k, v, o, stats, dout, add({}), add({}), add({})};
  return {operands[Dq], operands[Dk], operands[Dv]};
}

// Checks the dims that attention requires, and that rows of heads do not overlap.
fe::error_t Graph::validate() const {
  if (operands.empty())
    return {"the graph has no node of attention"};
  const bool isGradient = operands.size() > Dout;
  const std::vector<int64_t> &q = operands[Q]->get_dim(), &k = operands[K]->get_dim();
  if (q.size() != 4 || k.size() != 4 || q[1] % k[1])
    return {"the heads of q are no multiple of those of k"};
  if (!isGradient && !attributes.hasStats)
    return {"the log-sum-exp is an output, and nobody asked for it"};
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor_attributes &its = *operands[i];
    const bool isOfKeys = i == K || i == V || i == Dk || i == Dv;
    const std::vector<int64_t> stats = {q[0], q[1], q[2], 1}, &wanted = i == Stats ? stats : isOfKeys ? k : q;
    const std::string name = shim::format("tensor %zu of the node", i);
    if (its.get_dim() != wanted || its.get_stride().size() != 4 || its.get_stride()[3] != 1)
      return {name + " has other dims than the node's, or no strides"};
    if (i == Stats && its.get_stride() != std::vector<int64_t>{q[1] * q[2], q[2], 1, 1})
      return {name + ", the log-sum-exp, is not contiguous"};
    if (its.get_data_type() != (i == Stats ? DataType_t::FLOAT : DataType_t::BFLOAT16))
      return {name + " has another type than the node's"};
    if (its.get_output() != (isGradient ? i >= Dq : i == O || i == Stats) || its.get_uid() == 0)
      return {name + " is not marked as what it is, or has no number"};
  }
  return {};
}

fe::error_t Graph::check_support(cudnnHandle_t) const { return {shim::injectedFailure("cudnnCheckSupport")}; }

fe::error_t Graph::query_tensor_attributes_of_uid(int64_t uid, Tensor_attributes &tensor) const {
  for (const Tensor &one : tensors)
    if (one->get_uid() == uid)
      return tensor = *one, error_t();
  return {shim::format("there is no tensor %d", int(uid))};
}

fe::error_t Graph::execute(cudnnHandle_t handle, std::unordered_map<int64_t, void *> &places, void *workspace) const {
  if (std::string told = shim::injectedFailure("cudnnExecute"); !told.empty())
    return {told};
  Call call;
  call.scale = attributes.scale, call.rightBound = attributes.rightBound;
  call.workspace = static_cast<char *>(workspace), call.workspaceBytes = static_cast<size_t>(workspaceBytes);
  for (const Tensor &one : operands) {
    const auto place = places.find(one->get_uid());
    if (place == places.end() || !place->second)
      return {shim::format("nobody says where tensor %d is", int(one->get_uid()))};
    call.at.push_back({one->get_dim(), one->get_stride(), static_cast<char *>(place->second)});
  }
  auto run = [call](const shim::Issue &issue) { call.run(issue); };
  const cudaError_t error = shim::issue(handle->stream, [run] { return shim::Work{nullptr, run, {}}; });
  return {error ? cudaGetErrorString(error) : ""};
}
