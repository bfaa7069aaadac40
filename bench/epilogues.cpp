// Times cuBLASLt's epilogues on this GPU: for the GEMMs of GPT-2 124M at 64 x 1024 tokens in bf16, the fastest of the
// algorithms that the heuristic offers with each epilogue.
//
//   c++ -std=c++20 -O1 -isystem $CUDA_HOME/include bench/epilogues.cpp -L$CUDA_HOME/lib64 -lcublasLt -lcudart -o
//   epilogues
//   ./epilogues [SECONDS]
//
// prints one JSON object for each GEMM and epilogue: median seconds of the fastest algorithm and of the heuristic's
// first, over SECONDS (0.05) of calls for each algorithm.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <random>
#include <vector>

namespace {

[[noreturn]] void stop(const char *what, int code) {
  std::fprintf(stderr, "epilogues: %s: error %d\n", what, code);
  std::exit(1);
}
void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    stop(what, error);
}
void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    stop(what, status);
}

// Column-major: D (m x n) = op(A) (m x k) * op(B) (k x n).
struct Gemm {
  const char *name;
  bool transA, transB;
  uint64_t m, n, k;
  cudaDataType_t result;
  std::vector<std::pair<const char *, cublasLtEpilogue_t>> epilogues;
};

const Gemm kGemms[] = {{"up",
                        true,
                        false,
                        3072,
                        65536,
                        768,
                        CUDA_R_16BF,
                        {{"none", CUBLASLT_EPILOGUE_DEFAULT},
                         {"bias", CUBLASLT_EPILOGUE_BIAS},
                         {"gelu_aux_bias", CUBLASLT_EPILOGUE_GELU_AUX_BIAS}}},
                       {"gradient of gelu",
                        false,
                        false,
                        3072,
                        65536,
                        768,
                        CUDA_R_16BF,
                        {{"none", CUBLASLT_EPILOGUE_DEFAULT},
                         {"dgelu", CUBLASLT_EPILOGUE_DGELU},
                         {"dgelu_bgrad", CUBLASLT_EPILOGUE_DGELU_BGRAD}}},
                       {"weight gradient of up",
                        false,
                        true,
                        768,
                        3072,
                        65536,
                        CUDA_R_32F,
                        {{"none", CUBLASLT_EPILOGUE_DEFAULT}, {"bgradb", CUBLASLT_EPILOGUE_BGRADB}}},
                       {"weight gradient of qkv",
                        false,
                        true,
                        768,
                        2304,
                        65536,
                        CUDA_R_32F,
                        {{"none", CUBLASLT_EPILOGUE_DEFAULT}, {"bgradb", CUBLASLT_EPILOGUE_BGRADB}}},
                       {"weight gradient of qkv, transposed",
                        false,
                        true,
                        2304,
                        768,
                        65536,
                        CUDA_R_32F,
                        {{"none", CUBLASLT_EPILOGUE_DEFAULT}, {"bgrada", CUBLASLT_EPILOGUE_BGRADA}}}};

void *randomNumbers(size_t count) {
  std::vector<uint16_t> pattern(1 << 20);
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (uint16_t &value : pattern) {
    union {
      float number;
      uint32_t bits;
    } one{normal(generator)};
    value = static_cast<uint16_t>(one.bits >> 16);
  }
  void *memory = nullptr;
  check(cudaMalloc(&memory, count * 2), "memory");
  for (size_t at = 0; at < count; at += pattern.size())
    check(cudaMemcpy(static_cast<uint16_t *>(memory) + at, pattern.data(), 2 * std::min(count - at, pattern.size()),
                     cudaMemcpyHostToDevice),
          "copy");
  return memory;
}

constexpr size_t kWorkspace = 64 << 20;
// The largest operand, in elements.
constexpr size_t kLargest = size_t{3072} * 65536;

struct Bench {
  double seconds;
  cublasLtHandle_t handle;
  void *a, *b, *d, *aux, *vector, *workspace;
  cudaEvent_t begin, end;

  explicit Bench(double seconds) : seconds(seconds) {
    check(cublasLtCreate(&handle), "cublasLt");
    a = randomNumbers(kLargest), b = randomNumbers(kLargest), d = randomNumbers(2 * kLargest),
    aux = randomNumbers(kLargest);
    vector = randomNumbers(8192);
    check(cudaMalloc(&workspace, kWorkspace), "workspace");
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
  }

  template <class Call> double time(Call call) {
    using Clock = std::chrono::steady_clock;
    call();
    check(cudaDeviceSynchronize(), "the first call");
    std::vector<double> times;
    for (auto start = Clock::now(); std::chrono::duration<double>(Clock::now() - start).count() < seconds;) {
      constexpr int kAtOnce = 4;
      check(cudaEventRecord(begin), "event");
      for (int i = 0; i < kAtOnce; ++i)
        call();
      check(cudaEventRecord(end), "event");
      check(cudaEventSynchronize(end), "a call");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "event");
      times.push_back(ms * 1e-3 / kAtOnce);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

  void run(const Gemm &gemm, const char *name, cublasLtEpilogue_t epilogue) {
    cublasLtMatmulDesc_t operation;
    check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "operation");
    auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto &value) {
      check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value), "attribute");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, gemm.transA ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, gemm.transB ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (epilogue != CUBLASLT_EPILOGUE_DEFAULT && epilogue != CUBLASLT_EPILOGUE_DGELU)
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
    if (epilogue & 128 /* with an auxiliary matrix */) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, static_cast<int64_t>(gemm.m));
    }
    auto layout = [&](bool transposed, uint64_t rows, uint64_t columns, cudaDataType_t type) {
      cublasLtMatrixLayout_t its;
      if (transposed)
        std::swap(rows, columns);
      check(cublasLtMatrixLayoutCreate(&its, type, rows, columns, static_cast<int64_t>(rows)), "layout");
      return its;
    };
    auto layoutA = layout(gemm.transA, gemm.m, gemm.k, CUDA_R_16BF),
         layoutB = layout(gemm.transB, gemm.k, gemm.n, CUDA_R_16BF);
    auto layoutD = layout(false, gemm.m, gemm.n, gemm.result);
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference), "preference");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                               sizeof kWorkspace),
          "workspace");
    cublasLtMatmulHeuristicResult_t found[16];
    int count = 0;
    if (cublasLtMatmulAlgoGetHeuristic(handle, operation, layoutA, layoutB, layoutD, layoutD, preference, 16, found,
                                       &count) != CUBLAS_STATUS_SUCCESS)
      return (void)std::printf("{\"gemm\": \"%s\", \"epilogue\": \"%s\", \"refused\": true}\n", gemm.name, name);
    const float alpha = 1, beta = 0;
    double first = 0, best = 1e9;
    for (int i = 0; i < count; ++i) {
      const double its = time([&] {
        check(cublasLtMatmul(handle, operation, &alpha, a, layoutA, b, layoutB, &beta, d, layoutD, d, layoutD,
                             &found[i].algo, workspace, kWorkspace, nullptr),
              "matmul");
      });
      first = i == 0 ? its : first, best = std::min(best, its);
    }
    std::printf("{\"gemm\": \"%s\", \"epilogue\": \"%s\", \"algorithms\": %d, \"first\": %.6g, \"best\": %.6g, "
                "\"tflops\": %.1f}\n",
                gemm.name, name, count, first, best, 2.0 * gemm.m * gemm.n * gemm.k / best * 1e-12);
    std::fflush(stdout);
  }
};

} // namespace

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.05;
  if (argc > 2 || !(seconds > 0))
    return std::fprintf(stderr, "usage: epilogues [SECONDS]\n"), 2;
  Bench bench(seconds);
  for (const Gemm &gemm : kGemms)
    for (auto [name, epilogue] : gemm.epilogues)
      bench.run(gemm, name, epilogue);
}
