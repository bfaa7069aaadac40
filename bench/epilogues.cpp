// Times cuBLASLt's epilogues on this GPU: for the GEMMs of GPT-2 124M at 64 x 1024 tokens in bf16, the fastest of the
// algorithms that the heuristic offers with each epilogue.
//
//   c++ -std=c++20 -O1 -isystem $CUDA_HOME/include bench/epilogues.cpp
//       -L$CUDA_HOME/lib64 -lcublasLt -lcudart -o epilogues
//   ./epilogues [SECONDS]
//
// prints one JSON object for each GEMM and epilogue: median seconds of the fastest algorithm and of the heuristic's
// first, over SECONDS (0.05) of calls for each algorithm.
#include "gpu_timing.h"

#include <cublasLt.h>

namespace {

void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    stop(what, "cuBLAS returned " + std::to_string(status));
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

constexpr size_t kWorkspace = 64 << 20;
// The largest operand, in elements.
constexpr size_t kLargest = size_t{3072} * 65536;

struct Bench {
  Timer timer;
  cublasLtHandle_t handle;
  void *a, *b, *d, *aux, *vector, *workspace;

  explicit Bench(double seconds) : timer(seconds) {
    check(cublasLtCreate(&handle), "cublasLt");
    a = randomNumbers(kLargest), b = randomNumbers(kLargest), d = randomNumbers(2 * kLargest),
    aux = randomNumbers(kLargest);
    vector = randomNumbers(8192);
    check(cudaMalloc(&workspace, kWorkspace), "workspace");
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
      const double its = timer.time([&] {
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
