//===- TokenBatches.h - windows of text -----------------------------------===//
#ifndef BRAID_DATA_TOKENBATCHES_H
#define BRAID_DATA_TOKENBATCHES_H

#include "data/Batches.h"
#include "data/Mix.h"
#include "data/PackedRows.h"
#include "data/TokenFile.h"

#include <span>
#include <vector>

namespace braid {

// Fills inputs of role `tokens` with windows of the files and those of role
// `targets` with the same windows one token later.
//
// A random window of row r (microbatch * B + row, of a global batch of B rows)
// of step s starts at bounded(philox(counter = (s low, s high, r, 0), key =
// batch seed)) of all places where it fits, counted through the files.  Windows
// in order start at the multiples of their length in each file; each token but a
// file's first is a target once a pass, those at the end in a window that is
// filled up with targets that do not count.
//
// Where the model has an input `documents`, rows hold whole documents instead
// (PackedRows), and random ones are drawn from these.  The input says of which
// document of its row a token is, and `positions`, if there is one, where in it;
// the last token of a document has no target.
//
// An input `present` says which positions hold tokens that the model is given: the document (0 without
// packing) where there is a next token, be it masked or not, and -1 where a document or the data end.  So what
// positions share among them is the same as for documents in rows of their own.
//
// With weights Mix says which group of files a row is from.  Each group goes
// through its own files then, so there are passes over groups but none over all.
class TokenBatches : public BatchSource {
public:
  TokenBatches(const Model &model, const BatchOptions &options, const br_program *training,
               const br_program *evaluation);

  BatchCount fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) override;
  bool hasTrainingTargets() override;
  std::string nonFinite(const br_program &, int64_t, int) const override { return ""; }
  int64_t fillEvaluation(const br_program &program, int64_t index, int64_t count) override;
  RowOrder trainingOrder(const br_program &program, int perStep) const override;
  RowOrder evaluationOrder(const br_program &program) const override;
  BatchSize batchSize(const br_program &program) const override;
  int64_t trainingTokens() const override { return count(shards, Part::training); }
  int64_t heldOutTokens() const override { return count(shards, Part::heldOut); }
  const char *unit() const override { return "tokens"; }
  const char *rowUnit() const override { return "windows"; }
  std::optional<TokenTable> tokenTable() const override { return table; }

private:
  // A file and where its held-out part begins.
  struct Shard {
    TokenFile file;
    int64_t trainCount;
    // Where documents are packed.
    std::vector<int64_t> documents = {};
    PackedRows training = {}, heldOut = {};
  };
  using Shards = std::span<Shard>;
  enum class Part { training, heldOut };
  // Where a window starts and how many targets it has: fewer than its length at
  // the end of a part, none in a row that a batch lacks.
  struct Window {
    Shard *shard;
    int64_t first, targets;
  };

  void open(int64_t vocabulary);
  void checkVocabulary(const TokenFile &file) const;
  void pack(Shard &shard, int64_t length) const;
  void checkLengths(const br_program *training, const br_program *evaluation) const;

  static int64_t begin(const Shard &shard, Part part) { return part == Part::training ? 0 : shard.trainCount; }
  static int64_t count(const Shard &shard, Part part);
  static int64_t count(std::span<const Shard> some, Part part);
  int64_t windowsOf(const br_program &program, const Shard &shard, Part part) const;
  int64_t windowsOf(const br_program &program, std::span<const Shard> some, Part part) const;
  Window packedWindow(Shard &shard, Part part, int64_t number) const;
  Window windowOf(const br_program &program, Shards some, Part part, std::optional<int64_t> number) const;
  Window randomWindow(const br_program &program, Shards some, int64_t step, int64_t row) const;
  // Writes the windows at(global row) of this rank.
  template <class F> void fillRows(const br_program &program, const F &at);
  void fillRow(const br_program &program, int64_t row, Window window);
  // Reads it into `tokens`, `targets` and what is known of documents.
  void read(Window window);
  void placeDocuments(Window window);
  void maskTargets(Window window);
  // How many targets of a window the loss counts.
  int64_t counted(Window window);
  bool hasTarget(Shard &shard, int64_t begin, int64_t end);

  const Model &model;
  BatchOptions options;
  std::optional<TokenTable> table;
  std::vector<Shard> shards;
  std::vector<Shards> groups; // of options.data
  Mix mix;                    // of groups
  bool isPacked;
  std::vector<int32_t> tokens, targets, documents, positions, present; // of a window
  std::vector<int64_t> targetsOfRows;                                  // of a microbatch
};

} // namespace braid
#endif // BRAID_DATA_TOKENBATCHES_H
