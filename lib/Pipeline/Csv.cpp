//===- Csv.cpp - tables in PyTorch's CSV format ---------------------------===//

#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Failure.h"
#include "runtime/cli/RegularFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace braid::pipeline;
using llvm::Error, llvm::StringRef;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

class Reader {
public:
  explicit Reader(StringRef file) : file(file) {}
  Error read(StringRef text);
  Table table;

private:
  Error readLine(StringRef line);
  Error readCell(StringRef cell, unsigned step);
  Error refuse(StringRef cell, const llvm::Twine &reason) const;

  StringRef file, line;
  unsigned lineNumber = 0;
  uint64_t numCells = 0;
};

} // namespace

/// Returns any text escaped, and shortened to fit into a message.
static std::string quoted(StringRef text) {
  constexpr size_t kMaxQuoted = 40;
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printEscapedString(text.take_front(kMaxQuoted), os);
  return "'" + escaped + (text.size() > kMaxQuoted ? "…" : "") + "'";
}

Error Reader::refuse(StringRef cell, const llvm::Twine &reason) const {
  size_t column = cell.data() - line.data() + 1;
  return failure("{0}:{1}:{2}: {3} {4}", file, lineNumber, column, quoted(cell), reason.str());
}

/// Returns why a word of PyTorch's format is not accepted; empty for other words.
static StringRef rejectionReason(StringRef word) {
  for (StringRef message : {"SEND_F", "RECV_F", "SEND_B", "RECV_B", "WAIT_SEND_F", "WAIT_SEND_B"})
    if (word == message)
      return "is a message: messages follow from the table, so leave them out (PyTorch's form 'compute_only')";
  for (StringRef memory : {"UNSHARD", "RESHARD", "REDUCE_GRAD", "WAIT_REDUCE_GRAD"})
    if (word == memory)
      return "is not an action of a stage: gathers and reductions are placed by the compiler, so leave them out";
  return "";
}

Error Reader::readCell(StringRef cell, unsigned step) {
  if (cell.starts_with("("))
    return refuse(cell, "combines several actions in one cell: give each action its own cell");
  StringRef rest = cell;
  StringRef stage = rest.take_while(llvm::isDigit);
  StringRef word = rest.drop_front(stage.size()).take_while([](char c) { return llvm::isAlpha(c) || c == '_'; });
  StringRef microbatch = rest.drop_front(stage.size() + word.size());
  if (StringRef reason = rejectionReason(word); !reason.empty() && !stage.empty())
    return refuse(cell, reason);
  Cell read = {Action::Forward, 0, 0, step};
  size_t letter = StringRef("FBIW").find(word);
  bool isCell = word.size() == 1 && letter != StringRef::npos && !stage.empty() && !microbatch.empty() &&
                llvm::all_of(microbatch, llvm::isDigit);
  if (!isCell)
    return refuse(cell, "is not a cell: write the stage, F, B, I or W, and the microbatch, as in 0F3");
  for (auto [text, number] : {std::pair(stage, &read.stage), std::pair(microbatch, &read.microbatch)})
    if (text.getAsInteger(10, *number) || *number >= kMaxStageMicrobatches)
      return refuse(cell, "has a number above " + llvm::Twine(kMaxStageMicrobatches - 1));
  read.action = static_cast<Action>(letter);
  table.numStages = std::max(table.numStages, read.stage + 1);
  table.numMicrobatches = std::max(table.numMicrobatches, read.microbatch + 1);
  if (++numCells > 3 * kMaxStageMicrobatches)
    return refuse(cell, "exceeds the table: the largest number of cells is " + llvm::Twine(3 * kMaxStageMicrobatches));
  table.rows.back().push_back(read);
  return Error::success();
}

Error Reader::readLine(StringRef text) {
  line = text;
  table.rows.emplace_back();
  for (unsigned step = 0; !text.empty(); ++step) {
    auto [cell, rest] = text.split(',');
    cell = cell.trim();
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
      cell = cell.drop_front().drop_back().trim();
    if (!cell.empty())
      if (Error error = readCell(cell, step))
        return error;
    text = rest;
  }
  if (table.rows.back().empty())
    return failure("{0}:{1}:1: the line has no cells: each line is a rank, which needs at least one stage", file,
                   lineNumber);
  return Error::success();
}

Error Reader::read(StringRef text) {
  text.consume_front("\xef\xbb\xbf"); // byte order mark
  text = text.rtrim();
  if (text.empty())
    return failure("{0}:1:1: the file has no cells", file);
  while (!text.empty()) {
    auto [first, rest] = text.split('\n');
    ++lineNumber;
    if (Error error = readLine(first.rtrim('\r')))
      return error;
    text = rest;
  }
  return checkSize(table.numStages, table.numMicrobatches);
}

llvm::Expected<Table> braid::pipeline::parseCsv(StringRef text, StringRef file) {
  Reader reader(file);
  if (Error error = reader.read(text))
    return error;
  return std::move(reader.table);
}

llvm::Expected<Table> braid::pipeline::readCsv(StringRef file) {
  std::string problem;
  int opened = cli::openRegularFile(file.str(), problem);
  if (opened < 0)
    return failure("{0}: {1}", file, problem);
  auto buffer = llvm::MemoryBuffer::getOpenFile(opened, file, /*FileSize=*/-1);
  ::close(opened);
  if (!buffer)
    return failure("{0}: {1}", file, buffer.getError().message());
  return parseCsv((*buffer)->getBuffer(), file);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void braid::pipeline::writeCsv(const Table &table, llvm::raw_ostream &os) {
  for (const Table::Row &row : table.rows) {
    unsigned step = 0;
    for (const Cell &cell : row) {
      for (; step < cell.step; ++step)
        os << ',';
      os << cell.str();
    }
    os << '\n';
  }
}

/// Returns PyTorch's name of a message: a send has the sender's stage, a receive the receiver's.
static std::string nameOf(const Schedule &schedule, const Message &message, unsigned rank) {
  const Cell &producer = schedule.at(message.producer), &consumer = schedule.at(message.consumer);
  bool isActivation = producer.action == Action::Forward;
  if (message.producer.rank == rank)
    return std::to_string(producer.stage) + (isActivation ? "SEND_F" : "SEND_B") + std::to_string(producer.microbatch);
  return std::to_string(consumer.stage) + (isActivation ? "RECV_F" : "RECV_B") + std::to_string(consumer.microbatch);
}

void braid::pipeline::writeCsv(const Schedule &schedule, const MessagePlan &plan, llvm::raw_ostream &os) {
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank) {
    const RankMessages &messages = plan.ranks[rank];
    const Table::Row &row = schedule.getTable().rows[rank];
    llvm::ListSeparator comma(",");
    for (unsigned index = 0, position = 0; index < messages.started.size(); ++index) {
      for (; position < messages.started[index]; ++position)
        os << comma << nameOf(schedule, plan.messages[messages.queue[position]], rank);
      if (index < row.size())
        os << comma << row[index].str();
    }
    os << '\n';
  }
}
