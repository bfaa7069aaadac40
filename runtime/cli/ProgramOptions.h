//===- ProgramOptions.h - the options of each program ---------------------===//
//
// Written by docs/command_line.py from the tables of options, the page of which is
// docs/CommandLine.md.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_PROGRAMOPTIONS_H
#define BRAID_CLI_PROGRAMOPTIONS_H

#include <string_view>

namespace braid::cli {

struct ProgramOptions {
  std::string_view program; // a tool, or a command of training binaries
  bool isTool;
  std::string_view names; // between spaces
};

// clang-format off
inline constexpr ProgramOptions kProgramOptions[] = {
    {"braid-model", true,
     "--preset --batch --seq --pack --expert-bound --capacity-factor -o --count"},
    {"braidc", true,
     "-o --emit --report --keep-sources --print-pipeline --print-ir-after -v --target --cpu --cc --nvcc "
     "--runtime-dir --clip --optimizer --hyperparameters --beta1 --beta2 --eps --momentum --weight-decay "
     "--decay-exclude --accumulate --hook --precision --grad-dtype --optimizer-state --reduce-dtype "
     "--attention --attention-order --merge-matmuls --without --memory-limit --recompute --recompute-file "
     "--row-alignment --recompute-budget --loss-chunk --sampling --offload --offload-activations --mesh "
     "--zero --strategy --compare --noise-scale --transports --reshard-after-forward "
     "--unreduced-accumulators --layout --fold --context --context-order --sequence-parallel --chunks "
     "--schedule --stages --overlap --collectives --tp-overlap --bucket-mb --comm-ctas --compute "
     "--first-bucket-mb --link --prefetch"},
    {"train", false,
     "--data --data-format --holdout --steps --batch-tokens --batch-order --batch-seed --seed --lr "
     "--lr-schedule --warmup --min-lr --decay-steps --checkpoint --save-every --save-timeout --keep "
     "--resume --allow --init --log --tensorboard --force --eval-every --eval-batches --ranks --threads "
     "--pin --transport --rendezvous --token-file --timeout --link --device --cuda-graph "
     "--programmatic-launch --matmul-search --matmul-plan --profile --trace --trace-steps"},
    {"eval", false,
     "--data --data-format --holdout --checkpoint --init --eval-batches --ranks --threads --pin "
     "--transport --rendezvous --token-file --timeout --link --device --cuda-graph --programmatic-launch "
     "--matmul-search --matmul-plan --profile --trace --trace-steps"},
    {"predict", false,
     "--data --data-format --checkpoint --init --outputs --ranks --threads --pin --transport --rendezvous "
     "--token-file --timeout --link --device --cuda-graph --programmatic-launch --matmul-search "
     "--matmul-plan --profile --trace --trace-steps"},
    {"sample", false,
     "--checkpoint --prompt --prompt-tokens --tokenizer --length --temperature --top-k --top-p "
     "--repetition-penalty --seed --ranks --threads --pin --transport --rendezvous --token-file --timeout "
     "--link --device --cuda-graph --programmatic-launch --matmul-search --matmul-plan --profile --trace "
     "--trace-steps"},
    {"export", false,
     "--checkpoint --init --tokenizer --type --file-gb"},
    {"info", false,
     "--json --tensors"},
    {"matmuls", false,
     "--device"},
    {"verify", false,
     ""},
    {"run", false,
     "--program --inputs --outputs --seed --ranks --threads --pin --transport --rendezvous --token-file "
     "--timeout --link --device --cuda-graph --programmatic-launch --matmul-search --matmul-plan --profile "
     "--trace --trace-steps"},
};
// clang-format on

} // namespace braid::cli
#endif // BRAID_CLI_PROGRAMOPTIONS_H
