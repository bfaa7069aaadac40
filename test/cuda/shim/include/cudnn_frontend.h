//===- cudnn_frontend.h - attention of cuDNN, on the host -----------------===//
//
// Declares the part of cuDNN and of its frontend that the runtime uses. A graph is one node of attention or of its
// gradient. It uses only the dims and strides of its tensors, and no other knowledge of the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_CUDNN_FRONTEND_H
#define BRAID_SHIM_CUDNN_FRONTEND_H

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#define CUDNN_FRONTEND_VERSION 13200

enum cudnnStatus_t { CUDNN_STATUS_SUCCESS, CUDNN_STATUS_NOT_INITIALIZED };
struct cudnnContext {
  cudaStream_t stream;
};
using cudnnHandle_t = cudnnContext *;

namespace cudnn_frontend {

enum class DataType_t { NOT_SET, FLOAT, BFLOAT16 };
enum class HeurMode_t { A };
enum class BuildPlanPolicy_t { HEURISTICS_CHOICE };
enum class DiagonalAlignment_t { TOP_LEFT };

// Good if there is no message.
class error_t {
public:
  error_t(std::string message = "") : message(std::move(message)) {}
  bool is_good() const { return message.empty(); }
  bool is_bad() const { return !is_good(); }
  const std::string &get_message() const { return message; }

private:
  std::string message;
};

namespace detail {
cudnnStatus_t create_handle(cudnnHandle_t *handle);
cudnnStatus_t destroy_handle(cudnnHandle_t handle);
cudnnStatus_t set_stream(cudnnHandle_t handle, cudaStream_t stream);
size_t get_backend_version();
std::string get_backend_version_string();
const char *get_error_string(cudnnStatus_t status);
} // namespace detail

namespace graph {

// Dims are batch, heads, positions and size.
class Tensor_attributes {
public:
  Tensor_attributes &set_name(const std::string &) { return *this; }
  Tensor_attributes &set_uid(int64_t value) { return uid = value, *this; }
  Tensor_attributes &set_dim(const std::vector<int64_t> &value) { return dims = value, *this; }
  Tensor_attributes &set_stride(const std::vector<int64_t> &value) { return strides = value, *this; }
  Tensor_attributes &set_data_type(DataType_t value) { return type = value, *this; }
  Tensor_attributes &set_output(bool value) { return isOutput = value, *this; }

  int64_t get_uid() const { return uid; }
  const std::vector<int64_t> &get_dim() const { return dims; }
  const std::vector<int64_t> &get_stride() const { return strides; }
  DataType_t get_data_type() const { return type; }
  bool get_output() const { return isOutput; }

private:
  int64_t uid = 0;
  std::vector<int64_t> dims, strides;
  DataType_t type = DataType_t::NOT_SET;
  bool isOutput = false;
};

struct SDPA_attributes {
  SDPA_attributes &set_name(const std::string &) { return *this; }
  SDPA_attributes &set_attn_scale(float value) { return scale = value, *this; }
  SDPA_attributes &set_diagonal_alignment(DiagonalAlignment_t) { return *this; }
  SDPA_attributes &set_diagonal_band_right_bound(int value) { return rightBound = value, *this; }
  SDPA_attributes &set_generate_stats(bool value) { return hasStats = value, *this; }
  SDPA_attributes &set_deterministic_algorithm(bool value) { return isDeterministic = value, *this; }

  float scale = 1;
  std::optional<int64_t> rightBound; // keys that a query reads beyond its own position; none: all
  bool hasStats = false, isDeterministic = false;
};
using SDPA_backward_attributes = SDPA_attributes;

class Graph {
public:
  using Tensor = std::shared_ptr<Tensor_attributes>;

  Graph &set_io_data_type(DataType_t) { return *this; }
  Graph &set_intermediate_data_type(DataType_t) { return *this; }
  Graph &set_compute_data_type(DataType_t) { return *this; }

  Tensor tensor(const Tensor_attributes &attributes) { return add(attributes); }
  std::array<Tensor, 2> sdpa(Tensor q, Tensor k, Tensor v, SDPA_attributes attributes);
  std::array<Tensor, 3> sdpa_backward(Tensor q, Tensor k, Tensor v, Tensor o, Tensor dout, Tensor stats,
                                      SDPA_backward_attributes attributes);

  error_t validate() const;
  error_t build_operation_graph(cudnnHandle_t) const { return {}; }
  error_t create_execution_plans(const std::vector<HeurMode_t> &) const { return {}; }
  Graph &deselect_workspace_greater_than(int64_t bytes) { return workspaceBytes = bytes, *this; }
  error_t check_support(cudnnHandle_t) const;
  error_t build_plans(cudnnHandle_t, BuildPlanPolicy_t) const { return {}; }
  // All plans that may exist.
  error_t get_workspace_size(int64_t &bytes) const { return bytes = workspaceBytes, error_t(); }
  error_t execute(cudnnHandle_t handle, std::unordered_map<int64_t, void *> &places, void *workspace) const;

  error_t query_tensor_attributes_of_uid(int64_t uid, Tensor_attributes &tensor) const;
  const SDPA_attributes &attention() const { return attributes; }

private:
  Tensor add(const Tensor_attributes &tensor) {
    return tensors.emplace_back(std::make_shared<Tensor_attributes>(tensor));
  }

  std::vector<Tensor> tensors, operands; // of the node: q, k, v, o, stats, dout, dq, dk, dv
  SDPA_attributes attributes;
  int64_t workspaceBytes = 0;
};

} // namespace graph
} // namespace cudnn_frontend
#endif // BRAID_SHIM_CUDNN_FRONTEND_H
