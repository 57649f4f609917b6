// How far a long run is: a line of the terminal that is rewritten, or a line now and then where nobody watches.
#ifndef TILEC_RUNNER_PROGRESS_H
#define TILEC_RUNNER_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace tilec::runner {

class Progress {
public:
  /// `what` is counted, such as "blocks". Lines go to standard error; none where `quiet`.
  Progress(std::string what, bool quiet);
  /// Takes the line of the terminal away.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void update(uint64_t done, uint64_t all);

private:
  std::string what;
  bool quiet, terminal, shown = false;
  std::chrono::steady_clock::time_point started, last;
};

/// "12 s", "3 min 20 s", "2 h 5 min".
std::string durationText(double seconds);

} // namespace tilec::runner

#endif // TILEC_RUNNER_PROGRESS_H
