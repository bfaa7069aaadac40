//===- TokenBatches.h - windows of token files ----------------------------===//
#ifndef BRAID_DATA_TOKENBATCHES_H
#define BRAID_DATA_TOKENBATCHES_H

#include "data/Batches.h"
#include "data/Mix.h"
#include "data/PackedRows.h"
#include "data/TokenFile.h"

#include <span>
#include <vector>

namespace braid {

// Fills inputs of role `tokens` with windows of the files, and inputs of role `targets` with the same
// windows one token later.
//
// A random window is chosen for row r of step s; r is microbatch * B + row in a global batch of B rows. It
// starts at bounded(philox(counter = (s low, s high, r, 0), key = batch seed)), among all places where a
// window fits, counted through the files. In sequential order, windows start at multiples of their length
// in each file. Each token except a file's first is a target once per pass; the last window is padded with
// targets that the loss ignores.
//
// If the model has an input `documents`, rows hold whole documents instead (PackedRows), and random rows
// are drawn from these. The input has the document number of each token in its row. The optional input
// `positions` has the position in the document. The last token of a document has no target.
//
// The input `present` marks positions whose token is given to the model. It has the document number (0
// without packing) if a next token exists, masked or not, and -1 at the end of a document or of the data.
// So positions share the same values as if each document had its own row.
//
// With weights, Mix chooses the group of files for each row. Each group then goes through its own files, so
// a pass is defined per group only.
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
  // A file and the start of its held-out part.
  struct Shard {
    TokenFile file;
    int64_t trainCount;
    // Used if documents are packed.
    std::vector<int64_t> documents = {};
    PackedRows training = {}, heldOut = {};
  };
  using Shards = std::span<Shard>;
  enum class Part { training, heldOut };
  // Start of a window and its number of targets: fewer than its length at the end of a part, none in a
  // missing row of a short batch.
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
  static int64_t count(std::span<const Shard> groupShards, Part part);
  int64_t windowsOf(const br_program &program, const Shard &shard, Part part) const;
  int64_t windowsOf(const br_program &program, std::span<const Shard> groupShards, Part part) const;
  Window packedWindow(Shard &shard, Part part, int64_t number) const;
  Window windowOf(const br_program &program, Shards groupShards, Part part, std::optional<int64_t> number) const;
  Window randomWindow(const br_program &program, Shards groupShards, int64_t step, int64_t row) const;
  // Fills this rank's rows with the windows at(global row).
  template <class F> void fillRows(const br_program &program, const F &at);
  void fillRow(const br_program &program, int64_t row, Window window);
  // Reads a window into `tokens`, `targets` and the inputs that describe documents.
  void read(Window window);
  void placeDocuments(Window window);
  void maskTargets(Window window);
  // Returns how many targets of a window the loss counts.
  int64_t counted(Window window);
  bool hasTarget(Shard &shard, int64_t begin, int64_t end);

  const Model &model;
  BatchOptions options;
  std::optional<TokenTable> table;
  std::vector<Shard> shards;
  std::vector<Shards> groups; // of options.data
  Mix mix;                    // over the groups
  bool isPacked;
  std::vector<int32_t> tokens, targets, documents, positions, present; // of one window
  std::vector<int64_t> targetsOfRows;                                  // of each row of a microbatch
};

} // namespace braid
#endif // BRAID_DATA_TOKENBATCHES_H
