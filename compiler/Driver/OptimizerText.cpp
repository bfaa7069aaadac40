//===- OptimizerText.cpp - text of an optimizer in checkpoints ------------===//

#include "compiler/Driver/OptimizerText.h"
#include "dialects/TG/Optimizer.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

using namespace braid;

/// Returns the shortest text that parses to the same number.
static std::string numberText(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// Returns the given value of a hyperparameter, whose syntax the pass has checked, or its default.
static double valueOf(const tg::Hyperparameter &one, const OptimizerOptions &options) {
  double value = one.fallback;
  for (llvm::StringRef given : options.hyperparameters)
    if (auto [name, number] = given.split('='); name == one.name)
      number.getAsDouble(value);
  return value;
}

std::string braid::optimizerText(const DriverOptions &options) {
  const ApplyOptimizerPassOptions &chosen = options.passes.optimizer;
  std::string text = chosen.optimizer;
  for (const tg::Optimizer *optimizer : tg::allOptimizers())
    if (optimizer->name == chosen.optimizer)
      for (const tg::Hyperparameter &one : optimizer->hyperparameters)
        text += " " + one.name.str() + "=" + numberText(valueOf(one, options.optimizer));
  std::vector<std::string> undecayed = options.optimizer.decayExclude;
  llvm::sort(undecayed);
  if (!undecayed.empty())
    text += " decay_exclude=" + llvm::join(undecayed, ",");
  return chosen.clip > 0 ? text + " clip=" + numberText(chosen.clip) : text;
}
