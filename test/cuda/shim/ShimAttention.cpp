//===- ShimAttention.cpp - attention on the host, in cuDNN's place --------===//
//
// What the runtime's CudaAttentionTable does by cuDNN, as plain loops over bf16 with sums
// in f32, in the order of the stream.  A row of the scores is made again where it is
// needed, from the log-sum-exp.
//
//===----------------------------------------------------------------------===//

#include "cuda/Attention.h"

#include "Allocations.h"
#include "Queues.h"
#include "Recorder.h"
#include "Violation.h"
#include "base/Error.h"
#include "cuda_bf16.h"

#include <cmath>
#include <cstring>
#include <vector>

using namespace braid;

namespace {

using Pieces = std::vector<std::pair<const void *, size_t>>;
using Strides = int64_t[3];

// A call of one descriptor, with all that it depends on.
class Call {
public:
  Call(const br_attention_desc &desc, const AttentionPlaces &at, char *workspace)
      : desc(desc), at(at), workspace(workspace) {}

  void run(const shim::Issue &issue) const;

private:
  int64_t keyHead(int64_t head) const { return head / (desc.heads / desc.key_heads); }
  int64_t visible(int64_t query) const { return desc.causal ? query + 1 : desc.keys; }
  float &lse(int64_t b, int64_t h, int64_t s) const {
    return static_cast<float *>(at.lse)[(b * desc.heads + h) * desc.queries + s];
  }
  static int64_t row(const Strides &strides, int64_t b, int64_t position, int64_t head) {
    return b * strides[0] + position * strides[1] + head * strides[2];
  }
  std::vector<float> get(const void *base, const Strides &strides, int64_t b, int64_t position, int64_t head) const;
  void put(void *base, const Strides &strides, int64_t b, int64_t position, int64_t head, const float *values) const;

  void append(Pieces &pieces, const void *base, const Strides &strides, int64_t positions, int64_t heads) const;
  void check(Pieces &reads, Pieces &writes) const;
  void forward() const;
  void backward() const;
  void backward(int64_t b, int64_t keyHead) const;

  const br_attention_desc &desc;
  AttentionPlaces at;
  char *workspace;
};

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

} // namespace

std::vector<float> Call::get(const void *base, const Strides &strides, int64_t b, int64_t position,
                             int64_t head) const {
  const auto *from = static_cast<const __nv_bfloat16 *>(base) + row(strides, b, position, head);
  std::vector<float> values(desc.size);
  for (int64_t e = 0; e < desc.size; ++e)
    values[e] = float(from[e]);
  return values;
}

void Call::put(void *base, const Strides &strides, int64_t b, int64_t position, int64_t head,
               const float *values) const {
  auto *to = static_cast<__nv_bfloat16 *>(base) + row(strides, b, position, head);
  for (int64_t e = 0; e < desc.size; ++e)
    to[e] = __nv_bfloat16(values[e]);
}

//===----------------------------------------------------------------------===//
// Both directions
//===----------------------------------------------------------------------===//

void Call::forward() const {
  const float scale = static_cast<float>(desc.scale);
  for (int64_t b = 0; b < desc.batch; ++b)
    for (int64_t h = 0; h < desc.heads; ++h)
      for (int64_t s = 0; s < desc.queries; ++s) {
        const std::vector<float> query = get(at.q, desc.q, b, s, h);
        std::vector<float> scores(visible(s)), out(desc.size);
        float largest = -INFINITY, sum = 0;
        for (size_t t = 0; t < scores.size(); ++t) {
          scores[t] = scale * dot(query, get(at.k, desc.k, b, t, keyHead(h)));
          largest = std::max(largest, scores[t]);
        }
        for (float &score : scores)
          sum += score = std::exp(score - largest);
        for (size_t t = 0; t < scores.size(); ++t)
          add(out.data(), scores[t] / sum, get(at.v, desc.v, b, t, keyHead(h)));
        put(at.o, desc.o, b, s, h, out.data());
        lse(b, h, s) = largest + std::log(sum);
      }
}

// The query heads of one key head add up in its dk and dv.
void Call::backward(int64_t b, int64_t keys) const {
  const float scale = static_cast<float>(desc.scale);
  const int64_t group = desc.heads / desc.key_heads;
  std::vector<float> dk(desc.keys * desc.size), dv(dk.size());
  for (int64_t h = keys * group; h < (keys + 1) * group; ++h)
    for (int64_t s = 0; s < desc.queries; ++s) {
      const std::vector<float> query = get(at.q, desc.q, b, s, h), dout = get(at.dout, desc.dout, b, s, h);
      const float mean = dot(dout, get(at.o, desc.o, b, s, h));
      std::vector<float> dq(desc.size);
      for (int64_t t = 0; t < visible(s); ++t) {
        const std::vector<float> key = get(at.k, desc.k, b, t, keys);
        const float weight = std::exp(scale * dot(query, key) - lse(b, h, s));
        const float score = scale * weight * (dot(dout, get(at.v, desc.v, b, t, keys)) - mean);
        add(dq.data(), score, key);
        add(&dk[t * desc.size], score, query);
        add(&dv[t * desc.size], weight, dout);
      }
      put(at.dq, desc.dq, b, s, h, dq.data());
    }
  for (int64_t t = 0; t < desc.keys; ++t) {
    put(at.dk, desc.dk, b, t, keys, &dk[t * desc.size]);
    put(at.dv, desc.dv, b, t, keys, &dv[t * desc.size]);
  }
}

void Call::backward() const {
  for (int64_t b = 0; b < desc.batch; ++b)
    for (int64_t keys = 0; keys < desc.key_heads; ++keys)
      backward(b, keys);
}

//===----------------------------------------------------------------------===//
// What is read and written
//===----------------------------------------------------------------------===//

void Call::append(Pieces &pieces, const void *base, const Strides &strides, int64_t positions, int64_t heads) const {
  for (int64_t b = 0; b < desc.batch; ++b)
    for (int64_t s = 0; s < positions; ++s)
      for (int64_t h = 0; h < heads; ++h) {
        const auto *from = static_cast<const __nv_bfloat16 *>(base) + row(strides, b, s, h);
        if (reinterpret_cast<uintptr_t>(from) % 16)
          shim::violation(shim::format("attention with a row of heads at %p, which is not a multiple of 16 bytes",
                                       static_cast<const void *>(from)),
                          false);
        pieces.emplace_back(from, desc.size * sizeof(__nv_bfloat16));
      }
}

void Call::check(Pieces &reads, Pieces &writes) const {
  append(reads, at.q, desc.q, desc.queries, desc.heads);
  append(reads, at.k, desc.k, desc.keys, desc.key_heads);
  append(reads, at.v, desc.v, desc.keys, desc.key_heads);
  append(desc.gradient ? reads : writes, at.o, desc.o, desc.queries, desc.heads);
  (desc.gradient ? reads : writes).emplace_back(at.lse, desc.batch * desc.heads * desc.queries * sizeof(float));
  if (desc.gradient) {
    append(reads, at.dout, desc.dout, desc.queries, desc.heads);
    append(writes, at.dq, desc.dq, desc.queries, desc.heads);
    append(writes, at.dk, desc.dk, desc.keys, desc.key_heads);
    append(writes, at.dv, desc.dv, desc.keys, desc.key_heads);
  }
  if (desc.workspace_bytes)
    writes.emplace_back(workspace, desc.workspace_bytes);
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
  std::memset(workspace, 0xff, desc.workspace_bytes); // whatever was there is gone
  if (desc.gradient)
    backward();
  else
    forward();
  shim::launchName = {};
  if (shim::tracing())
    shim::Line(issue, "attention").pieces("reads", reads).pieces("writes", writes).write(issue.owner);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct CudaAttentionTable::Library {
  const br_attention_desc *descriptors;
  std::byte *arena;
  cudaStream_t stream;
};

CudaAttentionTable::CudaAttentionTable(const br_model &model, std::byte *arena, cudaStream_t stream) {
  for (int32_t index = 0; index < model.n_attentions; ++index)
    if (model.attentions[index].type != BR_BF16)
      fail("the compiled model is broken: attention ", index, " is not of bf16");
  library = std::make_unique<Library>(Library{model.attentions, arena, stream});
}

CudaAttentionTable::~CudaAttentionTable() = default;

br_status CudaAttentionTable::run(int32_t index, const AttentionPlaces &places) {
  const br_attention_desc &desc = library->descriptors[index];
  Call call(desc, places, reinterpret_cast<char *>(library->arena + desc.workspace_offset));
  auto run = [call](const shim::Issue &issue) { call.run(issue); };
  if (cudaError_t error = shim::issue(library->stream, [run] { return shim::Work{nullptr, run, {}}; })) {
    message = cudaGetErrorString(error);
    return BR_ERROR;
  }
  return BR_OK;
}
