//===- Choices.h - choices of passes on graphs ------------------*- C++ -*-===//
#ifndef BRAID_PASSES_BASE_CHOICES_H
#define BRAID_PASSES_BASE_CHOICES_H

#include "runtime/cli/Value.h"

namespace braid {

/// Element types of values and gradients.
enum class ElementType { F32, BF16 };
template <> inline constexpr cli::Word cli::words<ElementType>[] = {"f32", "bf16"};

/// Element types in which moments of the optimizer are stored.
enum class MomentType { F32, BF16, Int8 };
template <>
inline constexpr cli::Word cli::words<MomentType>[] = {
    "f32",
    {"bf16", "half the memory of f32, with stochastic rounding"},
    {"int8", "about 26 % of the memory of f32: 8-bit codes, with an f32 scale for each block of up to 128"}};

/// Hook points that one run of tg-attach-hooks handles. Forward leaves names without a point for later.
enum class HookTurn { All, Forward, Backward };
template <> inline constexpr cli::Word cli::words<HookTurn>[] = {"all", "forward", "backward"};

} // namespace braid

#endif // BRAID_PASSES_BASE_CHOICES_H
