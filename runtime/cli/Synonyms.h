//===- Synonyms.h - names of options in other frameworks ------------------===//
//
// Words that users of torchrun, transformers, Megatron-LM, nanoGPT, llama.cpp and similar programs may
// type. Underscores count as dashes. A word is not an option of Braid, and appears in one row. If the asked
// program has any of the row's options, the answer lists those; otherwise it lists all, each with its
// program.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_SYNONYMS_H
#define BRAID_CLI_SYNONYMS_H

#include <string_view>

namespace braid::cli {

struct Synonym {
  std::string_view words, options; // separated by spaces
  std::string_view note = {};      // a sentence, if the option differs slightly
};

// clang-format off
inline constexpr Synonym kSynonyms[] = {
    // Steps and batches
    {"--epochs --epoch --num-epochs --n-epochs --max-epochs --num-train-epochs", "--steps",
     "Each step's line says how many epochs of the data it ends."},
    {"--max-steps --num-steps --n-steps --total-steps --train-steps --step --iters --iterations --num-iters "
     "--max-iters --train-iters --num-iterations", "--steps"},
    {"--batch-size --batchsize --bs --train-batch-size --per-device-train-batch-size --global-batch-size "
     "--local-batch-size --eval-batch-size --per-device-eval-batch-size", "--batch --batch-tokens",
     "The graph has the number of sequences, the training binary that of tokens."},
    {"--micro-batch-size --microbatch-size --microbatches --micro-batches --num-microbatches --n-microbatches "
     "--gradient-accumulation --gradient-accumulation-steps --grad-accum --grad-accum-steps --accumulation-steps "
     "--accumulate-grad-batches --accum --gas", "--accumulate"},
    {"--seq-len --seqlen --seq-length --sequence-length --sequence-len --max-seq-len --max-seq-length "
     "--max-sequence-length --context-length --context-len --context-window --block-size --ctx --ctx-size --n-ctx --max-length "
     "--model-max-length --max-position-embeddings", "--seq"},
    {"--packing --packed --pack-sequences --sample-packing", "--pack"},
    {"--shuffle --no-shuffle --sampler", "--batch-order"},
    {"--random-seed --manual-seed --rng-seed --data-seed", "--seed"},
    // Learning rate and optimizer
    {"--learning-rate --learningrate --base-lr --max-lr --peak-lr --lr-rate", "--lr"},
    {"--lr-scheduler --lr-scheduler-type --lr-decay-style --scheduler --lr-decay --decay-lr", "--lr-schedule"},
    {"--warmup-steps --num-warmup-steps --warmup-iters --lr-warmup-steps --lr-warmup-iters --warm-up --warmup-ratio "
     "--lr-warmup-fraction", "--warmup", "It is a number of steps."},
    {"--lr-decay-steps --lr-decay-iters", "--decay-steps"},
    {"--min-learning-rate --lr-min --eta-min --final-lr", "--min-lr"},
    {"--optim --opt --optimiser", "--optimizer"},
    {"--wd --l2 --weightdecay --adam-weight-decay", "--weight-decay"},
    {"--adam-beta1", "--beta1"},
    {"--adam-beta2", "--beta2"},
    {"--adam-eps --adam-epsilon --epsilon", "--eps"},
    {"--max-grad-norm --clip-grad --clip-grad-norm --grad-clip --grad-clip-norm --gradient-clip-val "
     "--gradient-clipping --gradient-clip --max-norm", "--clip"},
    // Precision, memory and kernels
    {"--dtype --torch-dtype --param-dtype --amp --amp-dtype --autocast --mixed-precision --bf16 --fp16 --half "
     "--bfloat16 --float16", "--precision", "It is f32 or bf16."},
    {"--gradient-checkpointing --activation-checkpointing --activation-checkpoint --checkpoint-activations "
     "--grad-checkpointing --remat --recompute-activations --recompute-granularity", "--recompute"},
    {"--cpu-offload --offload-optimizer --optimizer-offload --fsdp-offload-params", "--offload"},
    {"--max-memory --memory --memory-budget --vram --mem", "--memory-limit"},
    {"--attn --attn-implementation --attention-backend --flash-attn --flash-attention --use-flash-attn --sdpa",
     "--attention"},
    {"--kv-cache --no-kv-cache --use-cache --row-loops --stores --panels --dot-products --order --update --epilogues",
     "--without", "It leaves passes out, as --without=tg-make-decode does with the cache of keys and values."},
    {"--arch --gpu --cuda --gpu-arch --sm", "--target"},
    // Ranks
    {"--tp --tp-size --tensor-parallel --tensor-parallel-size --tensor-model-parallel-size --pp --pp-size "
     "--pipeline-parallel --pipeline-parallel-size --pipeline-model-parallel-size --dp --dp-size --data-parallel "
     "--data-parallel-size --cp --cp-size --context-parallel --context-parallel-size --ep --ep-size --expert-parallel "
     "--expert-parallel-size --expert-model-parallel-size --parallel --parallelism", "--mesh",
     "It has all axes, as in --mesh=dp=2,tp=4."},
    {"--world-size --nproc --nproc-per-node --num-processes --np --gpus --num-gpus --n-gpus --ngpus --devices",
     "--mesh --ranks"},
    {"--fsdp --fully-shard --ddp --deepspeed --zero-stage --sharding-strategy --distributed-optimizer "
     "--use-distributed-optimizer", "--zero"},
    {"--pp-schedule --pipeline-schedule --pipeline-parallel-schedule", "--schedule"},
    {"--vpp --virtual-stages --virtual-pipeline --virtual-pipeline-model-parallel-size --interleave", "--chunks"},
    {"--backend --dist-backend --distributed-backend", "--transport --transports"},
    {"--master-addr --master-port --rdzv-endpoint --rdzv-backend --dist-url --init-method", "--rendezvous"},
    {"--num-threads --n-threads --cpu-threads --num-workers --workers --omp-num-threads -j", "--threads"},
    // Files
    {"--dataset --datasets --data-path --data-dir --data-file --data-files --train-data --train-file --train-files "
     "--training-data --corpus --text --input --in", "--data --inputs"},
    {"--val-split --valid-split --validation-split --val-fraction --validation-fraction --eval-fraction --test-size "
     "--test-split", "--holdout"},
    {"--model --model-name --model-path --model-name-or-path --pretrained --pretrained-model --from-pretrained "
     "--weights --load --load-from --init-from --finetune", "--preset --init --checkpoint"},
    {"--config --config-file --config-path --model-config", "--preset",
     "A config.json, or its folder, stands there without an option."},
    {"--out --output --output-file --output-path", "-o --outputs --checkpoint"},
    {"--output-dir --out-dir --save-dir --save --save-path --checkpoint-dir --checkpoint-path --ckpt --ckpt-dir "
     "--ckpt-path", "--checkpoint -o"},
    {"--save-steps --save-interval --save-freq --save-every-n-steps --checkpoint-every --checkpoint-interval "
     "--ckpt-every --every-n-train-steps", "--save-every"},
    {"--save-total-limit --save-top-k --max-checkpoints --keep-last --keep-checkpoints", "--keep"},
    {"--resume-from --resume-from-checkpoint --resume-path --continue --restart", "--resume"},
    {"--eval-steps --eval-interval --eval-freq --val-every --val-interval --val-check-interval --validate-every",
     "--eval-every"},
    {"--eval-iters --val-batches --val-iters --limit-val-batches --max-eval-batches", "--eval-batches"},
    {"--tb --tensorboard-dir --tensorboard-logdir --logging-dir --logdir", "--tensorboard"},
    {"--log-file --log-path --log-dir --metrics --wandb --report-to", "--log --tensorboard"},
    {"--prof --profiler", "--profile"},
    {"--sources --keep-source --save-sources --keep-generated", "--keep-sources"},
    {"--verbose --debug", "-v"},
    // Sampling
    {"--max-new-tokens --max-tokens --num-tokens --n-tokens --n-predict --gen-len", "--length"},
    {"--temp", "--temperature"},
    {"--vocab --tokenizer-path --tokenizer-name", "--tokenizer"},
};
// clang-format on

struct CommandSynonym {
  std::string_view words, command;
};
inline constexpr CommandSynonym kCommandSynonyms[] = {
    {"fit finetune fine-tune pretrain resume", "train"},
    {"evaluate test val validate validation", "eval"},
    {"generate infer inference chat complete completion", "sample"},
    {"save convert", "export"},
    {"check fsck", "verify"},
};

} // namespace braid::cli
#endif // BRAID_CLI_SYNONYMS_H
