//===- MatmulEpilogue.cpp - epilogues that a cuBLASLt call computes -------===//

#include "cuda/MatmulEpilogue.h"

#include "base/Error.h"
#include "base/NumberTypes.h"

using namespace braid;

bool EpilogueVariant::hasVector(const br_matmul_desc &d) const {
  return epilogue != CUBLASLT_EPILOGUE_DEFAULT && (d.has_bias || d.bias_grad);
}

bool EpilogueVariant::hasAux(const br_matmul_desc &d) const {
  return epilogue != CUBLASLT_EPILOGUE_DEFAULT && d.has_aux && !(left & BR_REST_ACTIVATION);
}

static cublasLtEpilogue_t epilogueOf(const br_matmul_desc &d, bool swapped) {
  if (d.bias_grad != BR_BIAS_GRAD_NONE)
    return (d.bias_grad == BR_BIAS_GRAD_A) == swapped ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_BGRADA;
  const auto choose = [&](cublasLtEpilogue_t plain, cublasLtEpilogue_t biased) { return d.has_bias ? biased : plain; };
  switch (d.epilogue) {
  case BR_EPILOGUE_GELU_TANH:
    return d.has_aux ? choose(CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS)
                     : choose(CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS);
  case BR_EPILOGUE_GELU_TANH_GRAD:
    return CUBLASLT_EPILOGUE_DGELU;
  default:
    return choose(CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS);
  }
}

std::vector<EpilogueVariant> braid::epilogueVariants(const br_matmul_desc &d, bool swapped) {
  const bool activates = d.epilogue != BR_EPILOGUE_NONE;
  const int32_t activation = activates ? BR_REST_ACTIVATION : 0, bias = d.has_bias ? BR_REST_BIAS : 0;
  const int32_t sum = d.bias_grad != BR_BIAS_GRAD_NONE ? BR_REST_BIAS_GRAD : 0, all = activation | bias | sum;
  std::vector<EpilogueVariant> variants = {{epilogueOf(d, swapped), 0}};
  if (activates && d.has_bias)
    variants.push_back({CUBLASLT_EPILOGUE_BIAS, activation});
  if (all)
    variants.push_back({CUBLASLT_EPILOGUE_DEFAULT, all});
  return variants;
}

std::string braid::describeRest(const EpilogueVariant &variant, const br_matmul_desc &d) {
  std::string text = variant.left & BR_REST_BIAS_GRAD ? "the gradient of a bias"
                     : variant.left & BR_REST_BIAS    ? "a bias"
                                                      : "";
  if (variant.left & BR_REST_ACTIVATION)
    text += concat(text.empty() ? "" : " and ", d.epilogue == BR_EPILOGUE_GELU_TANH_GRAD ? "the gradient of " : "",
                   "GELU", d.epilogue == BR_EPILOGUE_GELU_TANH && d.has_aux ? " that keeps its input" : "");
  return concat(text, " (", nameOf(d.a.type), " by ", nameOf(d.b.type), " into ", nameOf(d.c.type), ")");
}
