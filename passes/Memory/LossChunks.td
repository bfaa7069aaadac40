//===- LossChunks.td - the loss in chunks of rows ---------*- tablegen -*-===//
#ifndef BRAID_PASSES_MEMORY_LOSSCHUNKS
#define BRAID_PASSES_MEMORY_LOSSCHUNKS

include "mlir/Pass/PassBase.td"

def ChunkLossPass : Pass<"tg-chunk-loss", "::mlir::func::FuncOp"> {
  let summary = "Computes the last contraction, the loss and their gradients in chunks of rows";
  let description = [{
    The logits of a vocabulary are often the largest tensor of a model, and their gradient is as large. Each row of
    logits is read only by its own row of the loss. So the pass splits the rows into chunks and computes one chunk
    after the other, and at most one chunk of logits is live. Each chunk computes its logits, its part of the loss,
    the gradient of its logits, its rows of the gradient of the contraction's operand, and its summand of the weight
    gradient.

    The ops' sharding rules tell which ops compute rows, and along which dim of each tensor: an op is built on a
    chunk as on the part of a rank. A mean is replaced by its definition, a sum and a division. Activations, biases
    and caps between the contraction and the loss are part of a chunk. Ops without an operand or result as large as
    the logits stay outside.

    The pass splits the first dim with more than one index into equal chunks of at most `rows` rows, if that dim has
    so many indices. A sum over rows is the sum of the sums of chunks, so the loss and the gradient of the weight
    round differently. Each chunk has its own ops, but kernels are defined once.

    A collective that leaves rows as they are, such as one that gathers the vocabulary, is built for each chunk. Two
    kinds of losses are left alone with a remark: those that need a value of all rows before their gradient is
    computed, and those whose rows an op without a rule reads. Runs on the program of a rank, before composites are
    decomposed.

    Input (`rows=2`):
    ```mlir
    func.func @f(%x: tensor<4x3xf32>, %w: tensor<5x3xf32>, %targets: tensor<4xi32>) -> tensor<f32> {
      %logits = tg.contract "bd,vd->bv" %x, %w : (tensor<4x3xf32>, tensor<5x3xf32>) -> tensor<4x5xf32>
      %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -100 : (tensor<4x5xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
      return %loss : tensor<f32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4x3xf32>, %w: tensor<5x3xf32>, %targets: tensor<4xi32>) -> tensor<f32> {
      %x0 = tg.slice %x dim 0 offset 0 size 2 : tensor<4x3xf32> -> tensor<2x3xf32>
      %logits0 = tg.contract "bd,vd->bv" %x0, %w : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
      %t0 = tg.slice %targets dim 0 offset 0 size 2 : tensor<4xi32> -> tensor<2xi32>
      %loss0, %lse0 = tg.cross_entropy sum %logits0, %t0 ignore -100 : (tensor<2x5xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>)
      %x1 = tg.slice %x dim 0 offset 2 size 2 : tensor<4x3xf32> -> tensor<2x3xf32>
      %logits1 = tg.contract "bd,vd->bv" %x1, %w : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
      %t1 = tg.slice %targets dim 0 offset 2 size 2 : tensor<4xi32> -> tensor<2xi32>
      %loss1, %lse1 = tg.cross_entropy sum %logits1, %t1 ignore -100 : (tensor<2x5xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>)
      %loss = arith.addf %loss0, %loss1 : tensor<f32>
      return %loss : tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"rows", "rows", "::braid::Integer<0, 1000000000>", /*default=*/"0",
           "Largest number of rows of a chunk; 0: all rows in one chunk">,
    Option<"required", "required", "bool", /*default=*/"false",
           "Fail if a program that trains has no loss that can be computed in chunks">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

#endif // BRAID_PASSES_MEMORY_LOSSCHUNKS
