//===- AttentionOrder.h - the order of sums that is asked for ---*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_ATTENTIONORDER_H
#define BRAID_PASSES_LOWER_ATTENTIONORDER_H

namespace braid {

/// An exec::SumOrder, or the choice of one.
enum class AttentionOrder { Auto, Fixed, Serial, Any };

} // namespace braid

#endif // BRAID_PASSES_LOWER_ATTENTIONORDER_H
