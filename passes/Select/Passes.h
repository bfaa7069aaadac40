//===- Passes.h - calls of the target ---------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_SELECT_PASSES_H
#define BRAID_PASSES_SELECT_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"
#include "runtime/cli/Value.h"

namespace braid {

/// How attention is computed. Auto falls back to the definition where neither library nor tiles support the operands.
enum class AttentionWay { Auto, Library, Tiles, Decompose };

template <>
inline constexpr cli::Word cli::words<AttentionWay>[] = {
    {"auto", "by the target's library where that takes it, else by tiles"},
    {"library", "by the library, or an error"},
    {"tiles", "by generated code, which keeps scores on chip, or an error"},
    {"decompose", "by its definition"}};

/// An exec::SumOrder, or automatic choice.
enum class AttentionOrder { Auto, Fixed, Serial, Any };
template <>
inline constexpr cli::Word cli::words<AttentionOrder>[] = {
    {"auto", "fixed, unless that takes 2 % of the predicted time, a tenth of the arena, or the memory limit"},
    {"fixed", "the same bits in every run"},
    {"serial", "the same with less memory and slower: sm_90, cuDNN 9.25"},
    {"any", "faster, with bits that differ from run to run"}};

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Select/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_SELECT_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Select/Passes.h.inc"
} // namespace braid
