//===- ExampleModels.h - two models written by hand -----------------------===//
//
// Small versions of generated programs. They show that a generated program needs only the C ABI. One learns a linear
// map from rows of numbers, with momentum and microbatches. The other learns which byte follows which.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_EXAMPLEMODELS_H
#define BRAID_TEST_EXAMPLEMODELS_H

#include "braid_rt.h"

#include <functional>
#include <string>
#include <vector>

namespace braid::test {

// y = x W, W of logical shape [4, 3] and stored transposed; batch of 8 rows,
// two microbatches a step.
const br_model &regressionModel();

// logits of the next byte = table[this byte]; 4 windows of 16.
const br_model &bigramModel();

// Called by either model's `train` with the step's number, after the step.
extern std::function<void(int step)> afterTrainStep;

// Runs br_main with these arguments (the program's name is added); standard
// output and error are captured.
struct Outcome {
  int status;
  std::string output, errors;
};
Outcome runMain(const br_model &model, std::vector<std::string> arguments);

// A safetensors file with 100 rows of `x` and of `y = x W` for a fixed W.
std::string regressionData();
// 4000 bytes in which the next byte can be guessed.
std::string bigramData();

} // namespace braid::test
#endif // BRAID_TEST_EXAMPLEMODELS_H
