//===- CompilerTargets.cpp - the compiler's tools under fuzz --------------===//
//
// Modules and command lines come from the tests: the RUN lines of test/**/*.mlir show which passes fit which module.
//
//===----------------------------------------------------------------------===//

#include "fuzz/Fuzzer.h"
#include <algorithm>
#include <cstdlib>

using namespace braid::fuzz;

// The tools, whose main functions have other names here.
extern "C" {
int braidOptMain(int argc, char **argv);
int braidInterpMain(int argc, char **argv);
int braidModelMain(int argc, char **argv);
int braidcMain(int argc, char **argv);
}

namespace {

/// Pieces of a test, between lines `// -----`, with the words of its RUN lines for a tool.
struct TestFile {
  Texts pieces;
  std::vector<Texts> commands;
};

constexpr const char *kModule = "module.mlir", *kGraph = "graph.mlir";

class Corpus {
public:
  explicit Corpus(const std::string &root);

  Case pass(Random &random) const { return test(random, passes, "braid-opt"); }
  Case interpreter(Random &random) const { return test(random, runs, "braid-interp"); }
  Case graph(Random &random) const;
  Case layout(Random &random) const;
  Case config(Random &random) const;
  Case compilerLine(Random &random) const;
  Case modelLine(Random &random) const;

private:
  Case test(Random &random, const std::vector<TestFile> &tests, const char *tool) const;

  std::vector<TestFile> passes, runs;
  Texts graphs, layouts, configs;
  Pool modules, layoutPool, configPool, words;
};

} // namespace

//===----------------------------------------------------------------------===//
// Where inputs come from
//===----------------------------------------------------------------------===//

/// Splits a command line like a shell, with quotes.
static Texts split(const std::string &line) {
  Texts words(1);
  char quote = 0;
  for (char c : line) {
    if (quote ? c == quote : c == '"' || c == '\'')
      quote = quote ? 0 : c;
    else if (c == ' ' && !quote)
      words.emplace_back();
    else
      words.back() += c;
  }
  std::erase(words, "");
  return words;
}

/// The words of the RUN lines that call the tool, up to a pipe.
static std::vector<Texts> commandsOf(const std::string &text, const std::string &tool) {
  std::vector<Texts> commands;
  for (size_t at = 0; (at = text.find("RUN: ", at)) != text.npos; ++at) {
    std::string line = text.substr(at, text.find('\n', at) - at);
    size_t begin = line.find(tool + " ");
    if (begin == line.npos)
      continue;
    Texts words = split(line.substr(begin, line.find_first_of("|>;&", begin) - begin));
    std::erase_if(words, [](const std::string &word) {
      return word == "2" || word.starts_with("--verify-diagnostics") || word.starts_with("-o") ||
             word.find("/") != word.npos;
    });
    std::replace(words.begin(), words.end(), std::string("%s"), std::string(kModule));
    if (std::find_if(words.begin(), words.end(), [](auto &word) { return word[0] == '%'; }) == words.end())
      commands.push_back(words);
  }
  return commands;
}

static Texts piecesOf(const std::string &text) {
  Texts pieces;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find("// -----", at), text.size());
    pieces.push_back(withoutComments(text.substr(at, end - at), "//"));
    at = end + 8;
  }
  return pieces;
}

static std::string graphOf(const std::string &config) {
  Case input = {{"braid-model", "config.json", "--batch=8", "--seq=4", "-o", kGraph}, {{"config.json", config}}};
  return outputsOf(braidModelMain, input)[kGraph];
}

/// Returns a config of four layers with two, because searches plan a graph many times; others stay as they are.
static std::string withTwoLayers(std::string config) {
  static const std::string layers = "\"num_hidden_layers\": 4";
  if (size_t at = config.find(layers); at != config.npos)
    config[at + layers.size() - 1] = '2';
  return config;
}

Corpus::Corpus(const std::string &root) {
  for (const std::string &path : pathsBelow(root + "/test", ".mlir")) {
    std::string text = readFile(path);
    modules.add(withoutComments(text, "//"));
    for (auto [tests, tool] : {std::pair(&passes, "braid-opt"), std::pair(&runs, "braid-interp")})
      if (TestFile test = {piecesOf(text), commandsOf(text, tool)}; !test.commands.empty())
        tests->push_back(test);
    for (const TestFile &test : passes)
      for (const std::string &word : test.commands.front())
        words.add(word);
  }
  for (const char *config : {"/examples/llama-tiny/config.json", "/test/model/Inputs/dropout.json"})
    graphs.push_back(graphOf(withTwoLayers(readFile(root + config))));
  graphs.push_back(readFile(root + "/examples/mlp-by-hand/mlp.mlir"));
  std::string layout = readFile(root + "/examples/llama-2x2/layout");
  layouts.push_back(layout.substr(layout.find("*."))); // behind the mesh and the batch, which --mesh says
  for (const char *folder : {"/examples", "/test"})
    for (const std::string &path : pathsBelow(root + folder, ".json"))
      if (std::string text = readFile(path); text.find("model_type") != text.npos)
        configs.push_back(text);
  for (const std::string &text : graphs)
    modules.add(text), layoutPool.add(text);
  for (const std::string &text : layouts)
    layoutPool.add(text);
  for (const std::string &text : configs)
    configPool.add(text);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Case Corpus::test(Random &random, const std::vector<TestFile> &tests, const char *tool) const {
  const TestFile &test = random.pick(tests);
  Texts command = random.pick(test.commands);
  if (random.oneIn(6))
    command = mutateWords(random, command, random.pick(random.pick(tests).commands), words);
  if (command.empty() || command.front() != tool)
    command.insert(command.begin(), tool); // it may have moved
  std::string text = random.pick(test.pieces);
  return {command, {{kModule, random.oneIn(16) ? text : mutateText(random, text, modules)}}};
}

/// Options that go together.
static const std::vector<Texts> kOptions = {
    {},
    {"--accumulate=2", "--clip=1"},
    {"--precision=bf16"},
    {"--precision=bf16", "--target=cuda"},
    {"--optimizer=lion", "--decay-exclude=norms,biases", "--weight-decay=0.1"},
    {"--hook=list"},
    {"--without=exec-lower-peak,exec-fuse-kernels"},
    {"--memory-limit=8MiB"},
    {"--report=-", "--attention=decompose"},
    {"--mesh=dp=2"},
    {"--mesh=dp=2", "--zero=1", "--accumulate=2", "--noise-scale"},
    {"--mesh=dp=2", "--zero=2", "--accumulate=2", "--unreduced-accumulators"},
    {"--mesh=dp=4", "--zero=3", "--prefetch=2", "--reshard-after-forward=false"},
    {"--mesh=dp=4", "--collectives=ring", "--bucket-mb=0", "--overlap=none"},
    {"--mesh=dp=4", "--collectives=tree", "--first-bucket-mb=inf"},
    {"--mesh=dp=2", "--strategy=dataparallel"},
    {"--mesh=dp=2", "--zero=1", "--precision=bf16", "--reduce-dtype=bf16"},
    {"--mesh=replica=2,shard=2", "--zero=3", "--link=20,1", "--compute=100,10"},
};

static Texts anyOptions() {
  Texts all = {"--emit=exe",
               "--layout=layout",
               "--compare=zero",
               "--keep-sources=kept",
               "--row-alignment=64",
               "--without=exec-select-epilogues",
               "-v",
               "-o",
               "--emit"};
  for (const Texts &words : kOptions)
    all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// Arguments of braidc besides the graph: where it stops, and a few options.
static Texts someOptions(Random &random) {
  Texts words = {"braidc", kGraph, "-o", "out",
                 random.pick({"--emit=tg", "--emit=memory", "--emit=memory", "--emit=cpp"})};
  const Texts &more = random.pick(kOptions);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Case Corpus::graph(Random &random) const {
  return {someOptions(random), {{kGraph, mutateText(random, random.pick(graphs), modules)}}};
}

Case Corpus::layout(Random &random) const {
  Texts words = {"braidc",           kGraph,           "-o", "out", random.pick({"--emit=comm", "--emit=memory"}),
                 "--mesh=dp=2,tp=2", "--layout=layout"};
  return {words, {{kGraph, graphs.front()}, {"layout", mutateText(random, random.pick(layouts), layoutPool)}}};
}

Case Corpus::config(Random &random) const {
  Texts words = {"braid-model", "config.json", "--batch=2", "--seq=4", random.pick({"-o", "--count"})};
  if (words.back() == "-o")
    words.push_back("out.mlir");
  return {words, {{"config.json", mutateText(random, random.pick(configs), configPool)}}};
}

Case Corpus::compilerLine(Random &random) const {
  static const Texts others = anyOptions();
  Texts line = someOptions(random);
  line.erase(line.begin());
  line = mutateWords(random, line, others, words);
  line.insert(line.begin(), "braidc");
  return {line, {{kGraph, graphs.front()}, {"layout", layouts.front()}}};
}

Case Corpus::modelLine(Random &random) const {
  static const Texts words = {
      "braid-model", "config.json",         "-o",      "out.mlir", "--batch=4", "--seq=8", "--preset=mlp",
      "--count",     "--preset=llama-tiny", "--batch", "3",        "--version", "--help"};
  Texts line = {"config.json", "--batch=4", "--seq=8", "-o", "out.mlir"};
  line = mutateWords(random, line, words, configPool);
  line.insert(line.begin(), "braid-model");
  return {line, {{"config.json", configs.front()}}};
}

/// The sources that --keep-sources requests.
static bool isKept(const std::string &path) { return path.starts_with("kept/"); }

int main(int argc, char **argv) {
  const char *root = std::getenv("BRAID_SOURCE");
  static const Corpus corpus(root ? root : BRAID_SOURCE_DIR);
  return fuzzMain(argc, argv,
                  {{"pass", 8, braidOptMain, [](Random &random) { return corpus.pass(random); }},
                   {.name = "interpreter",
                    .share = 2,
                    .program = braidInterpMain,
                    .make = [](Random &random) { return corpus.interpreter(random); },
                    .mayTakeLong = true},
                   {"graph", 4, braidcMain, [](Random &random) { return corpus.graph(random); }},
                   {"layout", 1, braidcMain, [](Random &random) { return corpus.layout(random); }},
                   {"config", 2, braidModelMain, [](Random &random) { return corpus.config(random); }},
                   {"braidc-line", 2, braidcMain, [](Random &random) { return corpus.compilerLine(random); }, isKept},
                   {"model-line", 1, braidModelMain, [](Random &random) { return corpus.modelLine(random); }}});
}
