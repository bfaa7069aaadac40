// State that the graph itself moves on: a counter of the batches so far is what the loss
// is, as the parameter stays zero.  It counts microbatches, is the same on every rank,
// is read by evaluation and saved.
//
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %braid/examples/mlp-by-hand/make_data.py %t/data
// RUN: braidc %s -o %t/one
// RUN: braidc %s -o %t/ranks --mesh=dp=3 --zero=3 --accumulate=2 --transports=threads
// DEFINE: %{options} = --data %t/data --lr 0 --threads 1 --eval-every 2 --eval-batches 1
// RUN: %t/one train %{options} --steps 2 --checkpoint %t/saved | FileCheck %s --check-prefix=ONE
// RUN: %t/one train %{options} --steps 3 --checkpoint %t/saved --resume | FileCheck %s --check-prefix=RESUMED
// RUN: %t/ranks train %{options} --steps 3 | FileCheck %s --check-prefix=TWO
//
// ONE: step 1/2 loss 0.0000
// ONE: step 2/2 loss 1.0000
// ONE: step 2 held-out loss 2.0000
// RESUMED: step 3/3 loss 2.0000
// TWO: step 1/3 loss 0.5000
// TWO: step 2/3 loss 2.5000
// TWO: step 2 held-out loss 4.0000
// TWO: step 3/3 loss 4.5000
func.func @model(%x: tensor<12x1xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<1xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                 %batches: tensor<i32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<i32> {tg.updates = "batches"}) {
  %rows = tg.broadcast %w dims [1] : tensor<1xf32> -> tensor<12x1xf32>
  %y = arith.mulf %x, %rows : tensor<12x1xf32>
  %number = tg.convert %batches : tensor<i32> -> tensor<f32>
  %numbers = tg.broadcast %number dims [] : tensor<f32> -> tensor<12x1xf32>
  %sum = arith.addf %y, %numbers : tensor<12x1xf32>
  %loss = tg.reduce mean %sum dims [0, 1] : tensor<12x1xf32> -> tensor<f32>
  %one = arith.constant dense<1> : tensor<i32>
  %count = arith.addi %batches, %one : tensor<i32>
  return %loss, %count : tensor<f32>, tensor<i32>
}
