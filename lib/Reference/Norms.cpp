//===- Norms.cpp - layer norm and RMS norm over the last dim --------------===//

#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

static Results evaluateLayerNorm(tg::LayerNormOp op, const Operands &in) {
  const Tensor &x = in(op.getInput()), &weight = in(op.getWeight());
  const Tensor *bias = in.optional(op.getBias());
  Tensor y(op.getResult().getType()), mean(op.getMean().getType()), rstd(op.getRstd().getType());
  int64_t width = x.shape.back();
  double eps = op.getEps().convertToDouble();
  for (int64_t row = 0; row < mean.size(); ++row) {
    double sum = 0, squares = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += x.f(row * width + j);
    double m = sum / width;
    for (int64_t j = 0; j < width; ++j)
      squares += (x.f(row * width + j) - m) * (x.f(row * width + j) - m);
    double r = 1 / std::sqrt(squares / width + eps);
    for (int64_t j = 0; j < width; ++j)
      y.f(row * width + j) = (x.f(row * width + j) - m) * r * weight.f(j) + (bias ? bias->f(j) : 0);
    mean.f(row) = m;
    rstd.f(row) = r;
  }
  return results(std::move(y), std::move(mean), std::move(rstd));
}

static Results evaluateLayerNormGrad(tg::LayerNormGradOp op, const Operands &in) {
  const Tensor &x = in(op.getInput()), &weight = in(op.getWeight()), &mean = in(op.getMean());
  const Tensor &rstd = in(op.getRstd()), &dy = in(op.getGradient());
  Tensor dx(op.getDinput().getType()), dweight(op.getDweight().getType()), dbias(op.getDbias().getType());
  int64_t width = x.shape.back();
  for (int64_t row = 0; row < mean.size(); ++row) {
    auto normal = [&](int64_t j) { return (x.f(row * width + j) - mean.f(row)) * rstd.f(row); };
    auto scaled = [&](int64_t j) { return dy.f(row * width + j) * weight.f(j); };
    double sum = 0, sumNormal = 0;
    for (int64_t j = 0; j < width; ++j) {
      sum += scaled(j);
      sumNormal += scaled(j) * normal(j);
      dweight.f(j) += dy.f(row * width + j) * normal(j);
      dbias.f(j) += dy.f(row * width + j);
    }
    for (int64_t j = 0; j < width; ++j)
      dx.f(row * width + j) = rstd.f(row) * (scaled(j) - sum / width - normal(j) * sumNormal / width);
  }
  return results(std::move(dx), std::move(dweight), std::move(dbias));
}

static Results evaluateRmsNorm(tg::RmsNormOp op, const Operands &in) {
  const Tensor &x = in(op.getInput()), &weight = in(op.getWeight());
  Tensor y(op.getResult().getType()), rrms(op.getRrms().getType());
  int64_t width = x.shape.back();
  double eps = op.getEps().convertToDouble(), offset = op.getOffset().convertToDouble();
  for (int64_t row = 0; row < rrms.size(); ++row) {
    double squares = 0;
    for (int64_t j = 0; j < width; ++j)
      squares += x.f(row * width + j) * x.f(row * width + j);
    double r = rrms.f(row) = 1 / std::sqrt(squares / width + eps);
    for (int64_t j = 0; j < width; ++j)
      y.f(row * width + j) = x.f(row * width + j) * r * (offset + weight.f(j));
  }
  return results(std::move(y), std::move(rrms));
}

static Results evaluateRmsNormGrad(tg::RmsNormGradOp op, const Operands &in) {
  const Tensor &x = in(op.getInput()), &weight = in(op.getWeight()), &rrms = in(op.getRrms());
  const Tensor &dy = in(op.getGradient());
  Tensor dx(op.getDinput().getType()), dweight(op.getDweight().getType());
  int64_t width = x.shape.back();
  double offset = op.getOffset().convertToDouble();
  for (int64_t row = 0; row < rrms.size(); ++row) {
    double r = rrms.f(row), sum = 0;
    for (int64_t j = 0; j < width; ++j) {
      int64_t i = row * width + j;
      sum += dy.f(i) * (offset + weight.f(j)) * x.f(i);
      dweight.f(j) += dy.f(i) * x.f(i) * r;
    }
    for (int64_t j = 0; j < width; ++j) {
      int64_t i = row * width + j;
      dx.f(i) = r * dy.f(i) * (offset + weight.f(j)) - r * r * r * x.f(i) * sum / width;
    }
  }
  return results(std::move(dx), std::move(dweight));
}

void braid::reference::addNorms(OpTable &table) {
  table.addAll(evaluateLayerNorm, evaluateLayerNormGrad, evaluateRmsNorm, evaluateRmsNormGrad);
}
