// Lines that tell how far a long run is.
#include "tilec/Runner/Progress.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace tilec::runner;

// Short runs show nothing; a terminal is rewritten often, other outputs grow slowly.
static constexpr double firstAfter = 2, terminalEvery = 0.2, lineEvery = 30;
// Goes to the start of the terminal's line and clears it (ECMA-48 EL).
static constexpr llvm::StringLiteral clearLine = "\r\x1b[K";

static double secondsBetween(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string tilec::runner::durationText(double seconds) {
  auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 60)
    return std::to_string(whole) + " s";
  if (whole < 3600)
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

Progress::Progress(std::string what, bool quiet)
    : what(std::move(what)), quiet(quiet), terminal(llvm::sys::Process::StandardErrIsDisplayed()),
      started(std::chrono::steady_clock::now()), last(started) {}

Progress::~Progress() {
  if (shown && terminal)
    llvm::errs() << clearLine;
}

void Progress::update(uint64_t done, uint64_t all) {
  if (quiet)
    return;
  auto now = std::chrono::steady_clock::now();
  double elapsed = secondsBetween(started, now);
  if (elapsed < firstAfter || secondsBetween(last, now) < (terminal ? terminalEvery : lineEvery))
    return;
  last = now;
  std::string text =
      "tile-run: " + std::to_string(done) + " of " + std::to_string(all) + " " + what + ", " + durationText(elapsed);
  if (done != 0 && done < all)
    text += ", about " + durationText(elapsed / static_cast<double>(done) * static_cast<double>(all - done)) + " left";
  llvm::errs() << (terminal ? clearLine : llvm::StringLiteral("")) << text << (terminal ? "" : "\n");
  shown = true;
}
