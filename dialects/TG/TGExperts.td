//===- TGExperts.td - mixtures of experts ---------------------*- tablegen -*-===//
//
// A token goes to the k experts with the highest router scores. Each row of the batch (a sequence) is a group by
// itself: an expert has `capacity` slots for every row. So slots depend only on the row, and experts and rows are
// ordinary dims.
//
// In the examples there are 2 rows (b) of 6 tokens (s), 8 experts (e) with 4 slots (c), and
// a token has 2 choices (k).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TG_EXPERTS
#define BRAID_TG_EXPERTS

include "dialects/TG/TGDialect.td"

def TG_TopKOp : TG_Op<"top_k", "Softmax", [TG_Infer, TG_Diff, TG_Composite, TG_Cost]> {
  let summary = "The k largest values of each row, the largest first, and their lanes";
  let description = [{
    Equal values are in the order of their lanes.

    ```mlir
    %weights, %chosen = tg.top_k %probabilities k 2 : tensor<2x6x8xf32> -> (tensor<2x6x2xf32>, tensor<2x6x2xi32>)
    ```
  }];
  let arguments = (ins TG_Float:$input, I64Attr:$k);
  let results = (outs TG_Float:$values, TG_Int:$indices);
  let assemblyFormat = "$input `k` $k " # typeList;
}

def TG_ExpertSlotsOp : TG_Op<"expert_slots", "Source", [TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "Assigns choices to slots of their experts, and slots to choices";
  let description = [{
    Choice i of token t has the number t * k + i. The choices of a row are served in the order of their numbers: the
    first `capacity` choices of an expert get its slots. Slot j of expert x has the number x * capacity + j; a choice
    without a slot has -1, and so has an unused slot.

    ```mlir
    %slots, %choices = tg.expert_slots %chosen capacity 4 of 8 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<8x2x4xi32>)
    ```
    Every expert takes all of its choices if the capacity is the number of tokens in a row.

    `present` has the document number of each token. Positions with a negative number hold no token and get no slot.
    With `bound`, each document has this many slots of each expert for itself, whatever other documents are in its row.

    ```mlir
    %slots, %choices = tg.expert_slots %chosen present %documents capacity 6 of 8 bound 2
        : (tensor<2x6x2xi32>, tensor<2x6xi32>) -> (tensor<2x6x2xi32>, tensor<8x2x6xi32>)
    ```
  }];
  let arguments = (ins TG_Int:$chosen, Optional<TG_Int>:$present, I64Attr:$capacity, I64Attr:$experts,
                       OptionalAttr<I64Attr>:$bound);
  let results = (outs TG_Int:$slots, TG_Int:$choices);
  let assemblyFormat = "$chosen (`present` $present^)? `capacity` $capacity `of` $experts (`bound` $bound^)? " # typeList;
}

def TG_DispatchOp : TG_Op<"dispatch", "Movement", [TG_Infer, TG_Diff, TG_Composite, TG_DefaultCost]> {
  let summary = "Copies each slot's token to the slot; unused slots get zeros";
  let description = [{
    `slots` and `choices` are the results of one `tg.expert_slots`. Forward reads `choices`; the gradient, which
    sums over a token's choices, reads `slots`. Neither adds by index.

    ```mlir
    %in = tg.dispatch %x, %slots, %choices
        : (tensor<2x6x16xf32>, tensor<2x6x2xi32>, tensor<8x2x4xi32>) -> tensor<8x2x4x16xf32>
    ```
    Experts come first, so that a contraction with their weights ("ebcd,efd->ebcf") is a GEMM for each. The op
    itself does not shard experts: where weights are sharded by expert, the result changes from shards of rows to
    shards of experts, which is an all_to_all.
  }];
  let arguments = (ins TG_Float:$input, TG_Int:$slots, TG_Int:$choices);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input `,` $slots `,` $choices " # typeList;
}

def TG_CollectOp : TG_Op<"collect", "Movement", [TG_Infer, TG_Diff, TG_Composite, TG_DefaultCost]> {
  let summary = "Fetches the experts' results for each choice of a token; zeros for a choice without a slot";
  let description = [{
    The inverse of `tg.dispatch`. The sum over a token's choices, each times its weight, is the output of the
    mixture.

    ```mlir
    %each = tg.collect %out, %slots, %choices
        : (tensor<8x2x4x16xf32>, tensor<2x6x2xi32>, tensor<8x2x4xi32>) -> tensor<2x6x2x16xf32>
    %y = tg.contract "bskd,bsk->bsd" %each, %weights : (tensor<2x6x2x16xf32>, tensor<2x6x2xf32>) -> tensor<2x6x16xf32>
    ```
  }];
  let arguments = (ins TG_Float:$input, TG_Int:$slots, TG_Int:$choices);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input `,` $slots `,` $choices " # typeList;
}

def TG_LoadBalanceOp : TG_Op<"load_balance", "Loss", [AttrSizedOperandSegments, TG_Composite, TG_Cost]> {
  let summary = "Load imbalance of routers' experts (Fedus et al. 2021); k if all experts are used equally";
  let description = [{
    The number of experts times the sum over experts of f p. f is the number of a token's choices that are this
    expert, and p is the expert's probability, both averaged over all tokens of all layers. A layer has an operand
    of probabilities and one of choices. Only probabilities have a gradient.

    ```mlir
    %aux = tg.load_balance %p0, %p1 choices %e0, %e1
        : (tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<2x6x2xi32>) -> tensor<f32>
    ```
    Positions where `present` is negative hold no token and are left out of the averages.
  }];
  let arguments = (ins Variadic<TG_Float>:$probabilities, Variadic<TG_Int>:$chosen, Optional<TG_Int>:$present);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$probabilities `choices` $chosen (`present` $present^)? " # typeList;
  let hasVerifier = 1;
}

def TG_RouterZOp : TG_Op<"router_z", "Loss", [AttrSizedOperandSegments, TG_Composite, TG_Cost]> {
  let summary = "The mean square of log-sum-exps over the last dim (Zoph et al. 2022): how large routers' logits are";
  let description = [{
    The mean is over all rows of all operands, one operand for each layer. Rows where `present` is negative are left
    out.

    ```mlir
    %z = tg.router_z %l0, %l1 : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<TG_Float>:$logits, Optional<TG_Int>:$present);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$logits (`present` $present^)? " # typeList;
  let hasVerifier = 1;
}

#endif // BRAID_TG_EXPERTS
