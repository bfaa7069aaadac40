//===- Batches.cpp - where the inputs of a program come from
//----------------===//

#include "core/Batches.h"

#include "core/TensorBatches.h"
#include "core/TokenBatches.h"

using namespace braid;

std::unique_ptr<BatchSource> braid::openBatches(const Model &model,
                                                const BatchOptions &options,
                                                const br_program *training,
                                                const br_program *evaluation) {
  const br_program *any = training ? training : evaluation;
  if (findByRole(inputsOf(*any), "tokens"))
    return std::make_unique<TokenBatches>(model, options, training, evaluation);
  return std::make_unique<TensorBatches>(model, options, training, evaluation);
}
