//===- EventFile.h - metrics as TensorBoard events ------------------------===//
//
// A file DIR/events.out.tfevents.SECONDS.HOST.PID contains TFRecord records: a length, data, and a masked
// CRC-32C of each. The data of a record is an Event in protobuf's wire format:
//
//   Event    1: wall_time double   2: step int64   3: file_version string   5: Summary
//            10: SourceMetadata, in the first event only
//   SourceMetadata  1: writer string, "braid job=" and the job's identity (LogIdentity.h)
//   Summary  1: Value, repeated        Value  1: tag string   2: simple_value float
//
// Each start of a job writes a new file. TensorBoard reads all files of a directory as one run, so no other
// run may use the directory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_EVENTFILE_H
#define BRAID_TRAIN_EVENTFILE_H

#include "train/Metrics.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

// Returns the CRC-32C (Castagnoli polynomial) of the data, masked as in TFRecord.
uint32_t maskedCrc32c(std::string_view data);

// Returns the event files in a directory, by name; an empty list if the directory does not exist.
std::vector<std::string> eventFiles(const std::string &directory);

// Names an event file in a directory that this job cannot continue, and why. Returns an empty string if
// there is none.
std::string reasonNotToContinueEvents(const std::string &directory, const LogIdentity &identity);

class EventFile {
public:
  // Writes nothing if `directory` is empty. A resumed job removes the events of later steps from its own
  // files, and removes files of other jobs. A new job removes all event files.
  EventFile(const std::string &directory, const LogResume &resume);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);

private:
  void begin(int64_t step);
  void add(std::string_view tag, double value);
  void write();

  std::optional<File> file;
  std::string event, summary, value, record;
};

} // namespace braid
#endif // BRAID_TRAIN_EVENTFILE_H
