//===- Passes.h - calls of the target ---------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_SELECT_PASSES_H
#define BRAID_PASSES_SELECT_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"
#include "runtime/cli/Value.h"

namespace braid {

/// How attention is computed. Auto falls back to the definition where neither library nor tiles support the operands.
enum class AttentionMethod { Auto, Library, Tiles, Decompose };

template <>
inline constexpr cli::Word cli::words<AttentionMethod>[] = {
    {"auto", "the target's library if it supports the call, else tiles"},
    {"library", "the target's library; an error if it does not support the call"},
    {"tiles", "generated code that keeps scores on chip; an error if unsupported"},
    {"decompose", "separate ops from the definition of attention"}};

/// An exec::SumOrder, or automatic choice.
enum class AttentionOrder { Auto, Fixed, Serial, Any };
template <>
inline constexpr cli::Word cli::words<AttentionOrder>[] = {
    {"auto", "fixed, unless it costs more than 2 % of the predicted time, more than a tenth of the arena, or exceeds "
             "the memory limit"},
    {"fixed", "same bits in every run"},
    {"serial", "same bits in every run with less memory, but slower (sm_90, cuDNN 9.25)"},
    {"any", "faster, but bits differ from run to run"}};

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Select/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_SELECT_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Select/Passes.h.inc"
} // namespace braid
