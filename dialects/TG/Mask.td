//===- Mask.td - masks of attention ---------------------*- tablegen -*-===//
#ifndef BRAID_TG_MASK
#define BRAID_TG_MASK

include "dialects/TG/TGDialect.td"

def TG_MaskAttr : TG_Attr<"Mask", "mask"> {
  let summary = "The keys that a query of attention counts, by their positions";
  let description = [{
    | mask | position s of the query counts position t of the key if |
    |---|---|
    | `#tg.mask<>` | always |
    | `#tg.mask<causal>` | t <= s |
    | `#tg.mask<causal window 4>` | s - 4 < t <= s: a sliding window of 4 keys |
    | `#tg.mask<causal offset 6>` | t <= s + 6: the first query is at the position of key 6 |

    An offset is needed if queries begin behind earlier keys, because they are only a part of the sequence. Without an
    offset, queries and keys have the same length. Ops write only the words of the mask: `tg.attention %q, %k, %v scale
    0.5 causal window 4`.

    Ranks that hold parts of the sequence know only at run time where the parts begin. Ops then take both positions
    as operands, and the mask has no offset.

    If rows hold several documents, ops take a document number for each position, batch x keys of i32. Of the keys in
    the table above, a query then counts only the keys of its own document.
  }];
  let parameters = (ins "bool":$causal, "int64_t":$window, "int64_t":$offset);
  let builders = [AttrBuilder<(ins CArg<"bool", "false">:$causal, CArg<"int64_t", "0">:$window,
                                   CArg<"int64_t", "kSameSequence">:$offset),
                                  [{ return $_get($_ctxt, causal, window, offset); }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Value of the offset if queries and keys are the same positions.
    static constexpr int64_t kSameSequence = -1;

    /// Position of the first query among the keys.
    int64_t getFirst() const { return std::max<int64_t>(getOffset(), 0); }
    /// Whether a query counts only the last keys of a sliding window.
    bool hasWindow() const { return getWindow() > 0; }
    /// Whether the mask has a window, or a first query behind the first key.
    bool isBand() const { return hasWindow() || getFirst() > 0; }
    /// Returns the range of keys that a query counts, as [begin, end), if there are `keys` keys.
    std::pair<int64_t, int64_t> keysOf(int64_t query, int64_t keys) const;
    /// Number of pairs of a query and a key that count. For a causal mask this is half of the square.
    int64_t pairsOf(int64_t queries, int64_t keys) const;
    /// Mean number of pairs that count if positions are known only at run time. The mean assumes equally many parts
    /// before the keys and behind them.
    int64_t meanPairsOf(int64_t queries, int64_t keys) const;
    /// Returns an error message for these numbers of queries and keys, which may begin at positions known only at
    /// run time; empty if there is none.
    std::string problemOf(int64_t queries, int64_t keys, bool atPositions) const;
    /// Returns an error message for the type of the document numbers; empty if there is none.
    std::string problemOf(::mlir::RankedTensorType documents, int64_t batch, int64_t queries, int64_t keys,
                          bool atPositions) const;
  }];
}

#endif // BRAID_TG_MASK
