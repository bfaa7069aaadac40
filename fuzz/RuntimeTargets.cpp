//===- RuntimeTargets.cpp - training binaries under fuzz ------------------===//
//
// The binaries are the handwritten models of the runtime's tests, with the main function of every training binary.
// Their inputs are the data and checkpoints that this function reads. The rendezvous store is called like by its
// server, with bytes of a client.
//
//===----------------------------------------------------------------------===//

#include "comm/StoreClient.h"
#include "comm/TcpStore.h"
#include "fuzz/Fuzzer.h"
#include "test/unit/runtime-comm/RawClient.h"
#include "test/unit/runtime/ExampleModels.h"
#include "test/unit/runtime/SavedModel.h"
#include <csignal>
#include <fcntl.h>

using namespace braid::fuzz;
using namespace braid;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static int bigramMain(int argc, char **argv) {
  // A command line may request any number of steps.
  test::afterTrainStep = [](int step) { step > 8 ? std::exit(0) : void(); };
  return br_main(argc, argv, &test::bigramModel());
}

static int regressionMain(int argc, char **argv) { return br_main(argc, argv, &test::regressionModel()); }

/// The tensors, and the check that the read values equal the saved ones.
static const test::ShardedModel &modelOf(int ranks) {
  static const test::ShardedModel one(1, test::logical, test::Sharding::Replicated),
      three(3, test::logical, test::Sharding::Flat);
  return ranks == 1 ? one : three;
}

/// save RANKS: a checkpoint of so many ranks, in the folder `saved`.
static int saveMain(int, char **argv) {
  test::save(modelOf(std::atoi(argv[1])), "saved", 8);
  return 0;
}

/// load RANKS sealed|open: the newest checkpoint in the folder `saved`. With checksums, reading gives the saved values
/// or nothing.
static int loadMain(int, char **argv) {
  std::string error = test::load(modelOf(std::atoi(argv[1])), "saved");
  std::fprintf(stderr, "%s\n", error.c_str());
  if (std::string(argv[2]) == "sealed" && (error.starts_with("element ") || error.starts_with("byte ")))
    std::abort();
  return error.empty() ? 0 : 1;
}

/// store TOKEN: a client of a store sends the file `bytes`, in pieces, and reads nothing or
/// all of its answers.
static int storeMain(int, char **argv) {
  JobToken token(argv[1]);
  StoreLimits limits;
  limits.bytes = 1 << 20;
  StoreTable table(limits);
  table.set("/key", "value");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
    return 1;
  StoreClient client(Socket(ends[0]), token, table, limits);
  std::string bytes = fuzz::readFile("bytes");
  Random random(bytes.size());
  char answers[4096];
  for (size_t at = 0; at < bytes.size();) {
    ssize_t sent = send(ends[1], bytes.data() + at, std::min(1 + random.below(256), bytes.size() - at), MSG_NOSIGNAL);
    at += sent > 0 ? sent : 0;
    for (int turns = 0; turns < 4; ++turns)
      if (!client.serve(POLLIN | POLLOUT))
        return 0;
    if (!random.oneIn(4))
      while (recv(ends[1], answers, sizeof answers, 0) > 0) {
      }
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Words for command lines, in addition to those of the mutated ones.
static constexpr const char *kLineWords[] = {"--help",
                                             "--version",
                                             "--ranks=1",
                                             "--pin=on",
                                             "--transport=threads",
                                             "--batch-tokens=128",
                                             "--batch-order=sequential",
                                             "--batch-seed=5",
                                             "--min-lr=1",
                                             "--decay-steps=2",
                                             "--init=text",
                                             "--data-format=bytes",
                                             "--prompt-tokens=1,2",
                                             "--tokenizer=text",
                                             "--eval-every=1",
                                             "--timeout=1",
                                             "--link=20,1",
                                             "--rendezvous=x",
                                             "--token-file=text",
                                             "text"};

namespace {

class Corpus {
public:
  Corpus();

  Case tokens(Random &random) const;
  Case rows(Random &random) const;
  Case initial(Random &random) const;
  Case resume(Random &random) const;
  Case checkpoint(Random &random) const;
  Case store(Random &random) const;
  Case line(Random &random) const;

private:
  std::string text = test::bigramData(), table = test::regressionData();
  Files run, whole, parts; // checkpoints: of a job, in one file, in a folder
  Pool headers, words;
};

} // namespace

/// Written without checksums, like by earlier versions; otherwise checksums would hide all later checks.
static Files opened(Files files) {
  for (auto &[name, bytes] : files)
    if (name.starts_with("saved/"))
      bytes = test::withoutChecksums(bytes);
  return files;
}

Corpus::Corpus() {
  for (const char *word : kLineWords)
    words.add(word);
  run =
      opened(outputsOf(bigramMain, {{"train", "train", "--data=text", "--steps=2", "--threads=1", "--checkpoint=saved"},
                                    {{"text", text}}}));
  const std::string id = "\"job_id\":\""; // drawn anew for each job
  for (auto &[name, bytes] : run)
    if (size_t at = bytes.find(id); at != bytes.npos)
      bytes.replace(at + id.size(), 16, 16, '0');
  whole = outputsOf(saveMain, {{"save", "1"}, {}});
  parts = outputsOf(saveMain, {{"save", "3"}, {}});
  for (const Files *files : {&run, &whole, &parts})
    for (const auto &[name, bytes] : *files)
      if (name.ends_with(".json"))
        headers.add(bytes);
      else if (name.ends_with(".safetensors"))
        headers.add(bytes.substr(8, *reinterpret_cast<const uint64_t *>(bytes.data())));
}

static std::string tokenFile(const std::string &text, size_t width) {
  std::string file = "BRAIDTOK" + test::littleEndian(1, 4) + test::littleEndian(width, 4) +
                     test::littleEndian(text.size(), 8) + test::littleEndian(256, 8) + std::string(32, '\0');
  for (unsigned char c : text)
    file += test::littleEndian(c, static_cast<int>(width));
  return file;
}

/// A token file of version 2 with all optional parts: a mask, documents and a table.
static std::string wholeTokenFile(const std::string &text, size_t width) {
  std::string file = tokenFile(text, width);
  const size_t documents = 3;
  file.replace(8, 4, test::littleEndian(2, 4));
  file.replace(32, 32,
               test::littleEndian(documents, 8) + test::littleEndian(256, 8) + test::littleEndian(1, 4) +
                   test::littleEndian('\n', 4) + test::littleEndian(0, 8));
  auto section = [&](const std::string &data) { file.resize((file.size() + 7) / 8 * 8), file += data; };
  section(std::string((text.size() + 7) / 8, '\x77'));
  std::string starts, offsets, letters;
  for (size_t i = 0; i < documents; ++i)
    starts += test::littleEndian(i * 50, 8);
  for (int i = 0; i <= 256; ++i)
    offsets += test::littleEndian(i, 4), letters += i < 256 ? std::string(1, static_cast<char>(i)) : "";
  section(starts);
  section(offsets);
  section(letters);
  return file;
}

Case Corpus::tokens(Random &random) const {
  size_t width = random.pick<size_t>({2, 4});
  std::string file = random.oneIn(2) ? tokenFile(text, width) : wholeTokenFile(text, width);
  file =
      random.oneIn(2) ? mutateNumbers(random, file, 4, random.oneIn(4) ? file.size() : 64) : mutateBytes(random, file);
  const char *data = random.pick({"--data=data", "--data=data:2,text:1"});
  return {{"train", "train", data, "--steps=3", "--threads=1",
           random.pick({"--batch-order=sequential", "--eval-every=1", "--checkpoint=saved"}),
           random.pick({"--data-format=auto", "--data-format=nanogpt", "--data-format=bytes"})},
          {{"data", file}, {"text", text}}};
}

Case Corpus::rows(Random &random) const {
  return {{"train", "train", "--data=data", "--steps=2", "--threads=1"},
          {{"data", mutateSafetensors(random, table, headers)}}};
}

/// Returns the files, one of them mutated.
static Files withOneChanged(Random &random, Files files, const Pool &pool) {
  std::vector<std::string> names;
  for (const auto &[name, bytes] : files)
    if (name.starts_with("saved/"))
      names.push_back(name);
  const std::string name = random.pick(names);
  std::string &bytes = files[name];
  if (random.oneIn(10))
    bytes = files[random.pick(names)];
  else if (random.oneIn(10))
    files.erase(name);
  else
    bytes = name.ends_with(".json") ? mutateText(random, bytes, pool) : mutateSafetensors(random, bytes, pool);
  return files;
}

Case Corpus::initial(Random &random) const {
  for (const auto &[name, bytes] : run)
    if (name.ends_with(".safetensors"))
      return {{"train", "eval", "--data=text", "--threads=1", random.pick({"--init=file", "--checkpoint=file"})},
              {{"text", text}, {"file", mutateSafetensors(random, bytes, headers)}}};
  return {};
}

Case Corpus::resume(Random &random) const {
  return {{"train", "train", "--data=text", "--steps=4", "--threads=1", "--checkpoint=saved", "--resume"},
          withOneChanged(random, run, headers)};
}

Case Corpus::checkpoint(Random &random) const {
  const Files &files = random.oneIn(3) ? whole : parts;
  bool isSealed = random.oneIn(3);
  return {{"load", random.pick({"1", "3"}), isSealed ? "sealed" : "open"},
          withOneChanged(random, isSealed ? files : opened(files), headers)};
}

Case Corpus::store(Random &random) const {
  auto key = [&] { return random.pick({"/key", "/", "", "/braid/0/rank_1", "no slash", "/other"}); };
  std::string bytes = test::validate();
  for (size_t count = random.few() + random.few(); count > 0; --count)
    switch (random.below(5)) {
    case 0:
      bytes += test::setOf(key(), std::string(random.below(1 << random.below(19)), 'v'));
      break;
    case 1:
      bytes += test::getOf(key());
      break;
    case 2:
      bytes += char(tcpstore::Check) + test::bytesOf(uint64_t{random.pick<uint64_t>({0, 1, 2, 1ull << 60, ~0ull})}) +
               test::stringOf(key());
      break;
    case 3:
      bytes += char(tcpstore::Prove) + std::string(tcpstore::nonceBytes + JobToken::macBytes, 'n');
      break;
    default:
      bytes += char(random.next());
    }
  if (random.oneIn(2))
    bytes = random.oneIn(2) ? mutateBytes(random, bytes) : mutateNumbers(random, bytes, 8, bytes.size());
  return {{"store", random.pick({"", "the token of this job"})}, {{"bytes", bytes}}};
}

Case Corpus::line(Random &random) const {
  static const Texts good[] = {
      {"train", "--data=text", "--steps=4", "--threads=1", "--checkpoint=saved", "--save-every=2", "--keep=1",
       "--log=log"},
      {"train", "--data", "text", "--steps", "4", "--threads", "1", "--lr-schedule=cosine", "--warmup=2", "--lr=0.01",
       "--resume", "--checkpoint=saved"},
      {"eval", "--data=text", "--threads=1", "--checkpoint=saved", "--holdout=0.2", "--eval-batches=2"},
      {"sample", "--checkpoint=saved", "--prompt=to", "--length=8", "--temperature=0.5", "--top-k=3", "--seed=2"},
      {"info", "--json"},
      {"run", "--program=train", "--outputs=out", "--seed=3"},
  };
  Texts words =
      mutateWords(random, random.pick(good), Texts(std::begin(kLineWords), std::end(kLineWords)), this->words);
  words.insert(words.begin(), "train");
  return {words, run};
}

/// A failed training leaves checkpoints and a log, but no incomplete file.
static bool isOfJob(const std::string &path) { return path.find(".tmp") == path.npos; }

int main(int argc, char **argv) {
  static const Corpus corpus;
  return fuzzMain(argc, argv,
                  {{"tokens", 3, bigramMain, [](Random &random) { return corpus.tokens(random); }},
                   {"rows", 3, regressionMain, [](Random &random) { return corpus.rows(random); }},
                   {"initial", 2, bigramMain, [](Random &random) { return corpus.initial(random); }},
                   {"resume", 3, bigramMain, [](Random &random) { return corpus.resume(random); }, isOfJob},
                   {"checkpoint", 4, loadMain, [](Random &random) { return corpus.checkpoint(random); }},
                   {"store", 4, storeMain, [](Random &random) { return corpus.store(random); }},
                   {"train-line", 4, bigramMain, [](Random &random) { return corpus.line(random); }, isOfJob, true}});
}
