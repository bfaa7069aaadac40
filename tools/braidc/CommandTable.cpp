//===- CommandTable.cpp - the command line of braidc ----------------------===//

#include "tools/braidc/CommandTable.h"
#include "compiler/Driver/Hooks.h"
#include "compiler/Driver/Options.h"
#include "dialects/TG/Optimizer.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/Size.h"
#include "tools/CommandLine.h"
#include <algorithm>
#include <array>

using namespace braid;
using namespace braid::cli;

namespace braid {
static void readOption(LossChunk &chunk, std::string_view text) {
  using Choice = LossChunk::Choice;
  chunk.choice = text == "auto" ? Choice::Auto : Choice::Rows;
  std::from_chars(text.data(), text.data() + text.size(), chunk.rows);
}
} // namespace braid

namespace {
// Returns an option of one pass.
template <auto... Path> consteval Field inPass() { return into<&DriverOptions::passes, Path...>(); }

// Returns the valid values of a type.
template <class T> consteval Value valueOf() {
  if constexpr (Choice<T>)
    return choice<T>();
  else if constexpr (std::is_same_v<T, bool>)
    return flag();
  else
    return T::valid();
}

bool isSize(std::string_view text) { return parseSize(text).has_value(); }

constexpr Value size() { return text("SIZE", isSize, "a number of bytes, with an optional KiB, MiB or GiB"); }

bool areLinks(std::string_view text) { return readLinks(text).has_value(); }

constexpr Value kAnyNumber = number("X", -kUnbounded);

// Returns a line for each optimizer, with its hyperparameters.
Lines optimizers() {
  Lines lines;
  for (const tg::Optimizer *optimizer : tg::allOptimizers())
    lines.emplace_back(optimizer->name, tg::hyperparametersText(*optimizer));
  return lines;
}

// Options of passes, from Passes.td.
#define GET_kTargetFlags_IMPL
#define GET_kOptimizerFlags_IMPL
#define GET_kMemoryFlags_IMPL
#define GET_kHostMemoryFlags_IMPL
#define GET_kKernelFlags_IMPL
#define GET_kPrecisionFlags_IMPL
#define GET_kRankFlags_IMPL
#define GET_kLayoutFlags_IMPL
#define GET_kPipelineFlags_IMPL
#define GET_kCommunicationFlags_IMPL
#include "passes/Pipelines/Flags.inc"

// Returns a line for each optional pass.
Lines optional() {
  Lines lines;
  for (const PassList::Entry &pass : optionalPasses())
    lines.emplace_back(pass.name, pass.summary);
  return lines;
}

template <size_t size> struct Name {
  char text[size] = {};
  consteval Name(const char (&literal)[size]) { std::copy_n(literal, size, text); }
};

// Returns the field of one hyperparameter, to which the option assigns a value.
template <Name name> consteval Field hyperparameter() {
  Field field = into<&OptimizerOptions::hyperparameters>();
  field.store = [](void *options, const Value &, std::string_view number) {
    auto &given = static_cast<OptimizerOptions *>(options)->hyperparameters;
    given.push_back(std::string(name.text) + "=" + std::string(number));
  };
  return field;
}

constexpr Option kOptimizer[] = {
    {"--hyperparameters", list("NAME=X,..."), "Values of hyperparameters, as in beta1=0.8,beta2=0.95",
     into<&OptimizerOptions::hyperparameters>()},
    {"--beta1", kAnyNumber,
     "Hyperparameter beta1: decay of the mean of gradients; for lion, weight of this mean in the update, beside the "
     "gradient",
     hyperparameter<"beta1">()},
    {"--beta2", kAnyNumber,
     "Hyperparameter beta2: decay of the mean of squared gradients; for lion, of the mean of gradients",
     hyperparameter<"beta2">()},
    {"--eps", kAnyNumber, "Hyperparameter eps: added to the denominator of the update", hyperparameter<"eps">()},
    {"--momentum", kAnyNumber, "Hyperparameter momentum: decay of the velocity", hyperparameter<"momentum">()},
    {"--weight-decay", kAnyNumber,
     "Hyperparameter weight_decay: share of the parameter, times lr, that each step subtracts",
     hyperparameter<"weight_decay">()},
    {"--decay-exclude", list("NAMES"),
     "Parameters without weight decay: biases (except of norms), norms (with their biases), embeddings",
     into<&OptimizerOptions::decayExclude>()},
};

enum class Rows {
  Output,
  Target,
  Microbatches,
  Hooks,
  Precision,
  Kernels,
  Memory,
  HostMemory,
  Ranks,
  Layout,
  Communication
};

struct Row {
  Rows rows;
  Option option;
};

constexpr Row kRows[] = {
    {Rows::Output,
     {"--keep",
      text("").alone(""),
      "",
      {},
      moved("it is --keep-sources now; --keep of the training binary is the number of checkpoints")}},
#define OPTION(ROWS, TYPE, FIELD, INITIAL, NAME, VALUE, HELP, ...)                                                     \
  {Rows::ROWS, {NAME, VALUE, HELP, into<&DriverOptions::FIELD>() __VA_OPT__(, ) __VA_ARGS__}},
#define RANK_OPTION(ROWS, TYPE, FIELD, INITIAL, NAME, VALUE, HELP, ...)                                                \
  {Rows::ROWS, {NAME, VALUE, HELP, into<&ParallelOptions::FIELD>() __VA_OPT__(, ) __VA_ARGS__}},
#include "compiler/Driver/Options.def"
};

// The options of a topic, from Options.def.
template <Rows rows, size_t... index> constexpr auto pick(std::index_sequence<index...>) {
  constexpr auto first = std::ranges::find(kRows, rows, &Row::rows);
  return std::array{first[index].option...};
}
template <Rows rows>
constexpr auto kOf = pick<rows>(std::make_index_sequence<std::ranges::count(kRows, rows, &Row::rows)>());

constexpr Topic kTopics[] = {
    topic<DriverOptions>("Input and output", kOf<Rows::Output>),
    topic<DriverOptions>("Target and compilers", kTargetFlags),
    topic<DriverOptions>("Target and compilers", kOf<Rows::Target>),
    topic<DriverOptions>("Optimizer", kOptimizerFlags),
    topic<DriverOptions, &DriverOptions::optimizer>("Optimizer", kOptimizer),
    topic<DriverOptions>("Microbatches", kOf<Rows::Microbatches>),
    topic<DriverOptions>("Hooks", kOf<Rows::Hooks>),
    topic<DriverOptions>("Precision", kOf<Rows::Precision>),
    topic<DriverOptions>("Precision", kPrecisionFlags),
    topic<DriverOptions>("Library calls", kKernelFlags),
    topic<DriverOptions>("Library calls", kOf<Rows::Kernels>),
    topic<DriverOptions>("Memory", kMemoryFlags),
    topic<DriverOptions>("Memory", kOf<Rows::Memory>),
    topic<DriverOptions>("Memory of a GPU's host", kOf<Rows::HostMemory>),
    topic<DriverOptions>("Memory of a GPU's host", kHostMemoryFlags),
    topic<DriverOptions, &DriverOptions::parallel>("Ranks", kOf<Rows::Ranks>, "--mesh"),
    topic<DriverOptions>("Ranks", kRankFlags, "--mesh"),
    topic<DriverOptions, &DriverOptions::parallel>("Weights and sequences over ranks", kOf<Rows::Layout>, "--mesh"),
    topic<DriverOptions>("Weights and sequences over ranks", kLayoutFlags, "--mesh"),
    topic<DriverOptions>("Pipelines", kPipelineFlags, "--mesh"),
    topic<DriverOptions, &DriverOptions::parallel>("Communication", kOf<Rows::Communication>, "--mesh"),
    topic<DriverOptions>("Communication", kCommunicationFlags, "--mesh"),
    topic<DriverOptions>("Help", kToolHelp),
};

} // namespace

constexpr Command braid::kBraidc = {"braidc", "Compile a training graph to a training binary", kTopics};
