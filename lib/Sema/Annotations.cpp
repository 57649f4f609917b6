// Annotations (rule 20): their arguments, and whether they apply to the architecture. Their places were checked by the
// parser, except for those of lets, which need a load.
#include "Analyzer.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::sema;

namespace {

/// What an annotation takes: positional integers within limits, or named ones, or one of some words.
struct AnnotationForm {
  llvm::StringLiteral name;
  unsigned least;
  unsigned most;
  int64_t minimum;
  int64_t maximum;
  /// A named integer that is required; empty if none.
  llvm::StringLiteral named;
  llvm::StringLiteral usage;
};

} // namespace

// Blocks of a cluster that every card with clusters takes (CUDA programming guide, "Thread Block Clusters").
static constexpr int64_t mostClusterBlocks = 8;

// Limits: a block has at most 32 warps (1024 threads), a thread at most 255 registers (CUDA programming guide,
// technical specifications).
static constexpr AnnotationForm forms[] = {
    {"warps", 1, 1, 1, 32, "", "@warps(8), with 1, 2, 4, 8, 16 or 32 warps"},
    {"stages", 1, 1, 1, 64, "", "@stages(4), with 1 to 64 stages"},
    {"unroll", 1, 1, 1, 1024, "", "@unroll(4), with a factor of 1 to 1024"},
    {"maxregs", 1, 1, 16, 255, "", "@maxregs(232), with 16 to 255 registers"},
    {"raster", 1, 1, 1, 1024, "", "@raster(8), with a group of 1 to 1024 tiles"},
    {"cluster", 1, 3, 1, mostClusterBlocks, "", "@cluster(2, 1), with 1 to 8 blocks in each direction"},
    {"specialize", 0, 0, 1, 4, "consumers", "@specialize(consumers = 2), with 1 to 4 consumers"},
    {"persistent", 0, 0, 0, 0, "", "@persistent"},
    {"no_tma", 0, 0, 0, 0, "", "@no_tma"},
};

bool Analyzer::checkAnnotation(const ast::Annotation &annotation, AppliedAnnotation &applied) {
  applied.name = annotation.name.name.str();
  applied.range = annotation.range;
  if (applied.name == "evict") {
    const auto *word = annotation.arguments.size() == 1 && !annotation.arguments[0].name
                           ? llvm::dyn_cast<ast::NameExpr>(annotation.arguments[0].value)
                           : nullptr;
    if (!word || (word->name.name != "first" && word->name.name != "last")) {
      report(annotation.range, diag::err_annotation_form) << applied.name << "@evict(first) or @evict(last)";
      return false;
    }
    applied.word = word->name.name.str();
    return true;
  }
  const AnnotationForm *form = llvm::find_if(forms, [&](const AnnotationForm &f) { return f.name == applied.name; });
  if (form == std::end(forms))
    return false; // Reported by the parser.
  bool good = true;
  for (const ast::Argument &argument : annotation.arguments) {
    Value value = check(argument.value);
    if (value.isError)
      return false;
    std::optional<int64_t> number;
    if (value.number)
      number = value.number->asInt64();
    else if (value.expr)
      number = getConstantInteger(value.expr);
    good &= number && *number >= form->minimum && *number <= form->maximum;
    if (!good)
      break;
    if (argument.name) {
      good = !form->named.empty() && argument.name.name == form->named;
      applied.named.emplace_back(argument.name.name.str(), *number);
    } else {
      applied.values.push_back(*number);
    }
  }
  good = good && applied.values.size() >= form->least && applied.values.size() <= form->most &&
         applied.named.size() == (form->named.empty() ? 0 : 1);
  // A tile is halved until every warp has its part.
  good = good && (applied.name != "warps" || llvm::isPowerOf2_64(applied.values.front()));
  if (!good)
    report(annotation.range, diag::err_annotation_form) << applied.name << form->usage;
  return good;
}

static bool appliesTo(const ast::Annotation &annotation, unsigned arch) {
  if (!annotation.isConditional)
    return true;
  switch (annotation.archOp) {
  case ast::RelationalOp::Equal:
    return arch == annotation.arch;
  case ast::RelationalOp::NotEqual:
    return arch != annotation.arch;
  case ast::RelationalOp::Less:
    return arch < annotation.arch;
  case ast::RelationalOp::LessEqual:
    return arch <= annotation.arch;
  case ast::RelationalOp::Greater:
    return arch > annotation.arch;
  case ast::RelationalOp::GreaterEqual:
    return arch >= annotation.arch;
  }
  llvm_unreachable("not a comparison");
}

void Analyzer::applyAnnotations(llvm::ArrayRef<ast::Annotation> annotations, std::vector<AppliedAnnotation> &result) {
  for (const ast::Annotation &annotation : annotations) {
    AppliedAnnotation applied;
    if (!checkAnnotation(annotation, applied) || !appliesTo(annotation, globals.options.arch))
      continue;
    auto same = [&](const AppliedAnnotation &other) { return other.name == applied.name; };
    auto previous = llvm::find_if(result, same);
    if (previous != result.end()) {
      DiagnosticBuilder builder = report(annotation.range, diag::err_repeated_annotation) << applied.name;
      builder.note(previous->range, diag::note_first_here);
      continue;
    }
    refuse("@" + applied.name, applied.range);
    result.push_back(std::move(applied));
  }
}

/// A raster is an order of the tiles of two ranges.
void Analyzer::checkRaster(const ParallelStmt *stmt) {
  for (const AppliedAnnotation &annotation : stmt->annotations)
    if (annotation.name == "raster" && stmt->bindings.size() < 2)
      report(annotation.range, diag::err_annotation_not_honoured)
          << "`@raster` orders the tiles of two ranges, and this `parallel` has one";
}

/// A cluster is a box of tiles: the launcher must know how many there are, to see whether boxes cover them.
void Analyzer::checkCluster(const ParallelStmt *stmt) {
  constexpr unsigned leastArch = 90;
  for (const AppliedAnnotation &annotation : stmt->annotations) {
    if (annotation.name != "cluster")
      continue;
    auto refuse = [&](const llvm::Twine &why) {
      report(annotation.range, diag::err_annotation_not_honoured) << "`@cluster` cannot be honoured: " + why.str();
    };
    llvm::ArrayRef<int64_t> blocks = annotation.values;
    if (globals.options.arch < leastArch)
      return refuse("sm_" + llvm::Twine(globals.options.arch) +
                    " has no clusters; write `if arch >= 90` behind the annotation");
    if (blocks.size() > stmt->bindings.size())
      return refuse("it names blocks along " + llvm::Twine(blocks.size()) + " ranges, and this `parallel` has " +
                    llvm::Twine(stmt->bindings.size()));
    if (int64_t count = llvm::product_of(blocks); count > mostClusterBlocks)
      return refuse("a cluster has at most " + llvm::Twine(mostClusterBlocks) + " blocks, not " + llvm::Twine(count));
    for (auto [number, binding] : llvm::zip(blocks, llvm::ArrayRef(stmt->bindings).take_back(blocks.size())))
      if (number > 1 && (!toHostExpr(binding.lower()) || !toHostExpr(binding.upper())))
        return refuse("the length of a range that it divides is not known before the launch");
  }
}

/// `@evict` and `@no_tma` of a let belong to the load that is its value.
void Analyzer::annotateLoad(const ast::LetStmt *stmt, Expr *value) {
  if (stmt->annotations.empty())
    return;
  std::vector<AppliedAnnotation> applied;
  applyAnnotations(stmt->annotations, applied);
  while (auto *cast = llvm::dyn_cast<Cast>(value))
    value = cast->operand;
  auto *load = llvm::dyn_cast<Load>(value);
  for (const AppliedAnnotation &annotation : applied) {
    if (!load) {
      report(annotation.range, diag::err_annotation_needs_load) << annotation.name;
      continue;
    }
    if (annotation.name == "evict")
      load->evict = annotation.word;
    else
      load->noTma = true;
  }
}
