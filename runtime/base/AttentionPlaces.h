//===- AttentionPlaces.h - addresses of an attention call's tensors -------===//
#ifndef BRAID_BASE_ATTENTIONPLACES_H
#define BRAID_BASE_ATTENTIONPLACES_H

namespace braid {

// Tensors in the target's memory.  Forward writes o and lse, and leaves the last four null;
// backward writes the last three.
struct AttentionPlaces {
  const void *q, *k, *v;
  void *o, *lse;
  const void *dout = nullptr;
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;
};

} // namespace braid
#endif // BRAID_BASE_ATTENTIONPLACES_H
