#include "nodewise/io/text_writer.hpp"

#include "nodewise/io/gzip_writer.hpp"
#include "nodewise/io/output_file.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

/// Collective. Where this rank begins to write in each of the sections of a file, which follow each
/// other and have the ranks' parts, of these lengths, in rank order.
std::vector<Offset> places_of(const mpi::Comm& comm, const std::vector<Offset>& lengths) {
  std::vector<Offset> totals = lengths;
  mpi::sum_in_place(comm, std::span<Offset>(totals));
  std::vector<Offset> places;
  Offset section_begin = 0;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    places.push_back(section_begin + mpi::exclusive_sum(comm, lengths[s]));
    section_begin += totals[s];
  }
  return places;
}

/// Collective. Writes sections of these lengths, each rank its own parts by put(section, pass_on).
template <class Put>
void write_sections(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                    const std::vector<Offset>& lengths, Put&& put) {
  OutputFile file(comm, path);
  const std::vector<Offset> places = places_of(*comm, lengths);
  mpi::collectively(*comm, [&] {
    for (std::size_t section = 0; section < places.size(); ++section) {
      Offset at = places[section];
      put(section, [&](std::string_view bytes) {
        file.write_at(at, {bytes.data(), bytes.size()});
        at += static_cast<Offset>(bytes.size());
      });
    }
  });
  file.commit();
}

/// Every part is a gzip member of its own, kept until its place is known: one after the other they
/// are a gzip file.
void write_compressed(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                      int n_sections, const FormatText& format) {
  std::vector<std::string> parts;
  std::vector<Offset> lengths;
  mpi::collectively(*comm, [&] {
    for (int section = 0; section < n_sections; ++section) {
      GzipWriter gzip;
      TextSink sink([&](std::string_view text) { gzip.put(text); });
      format(sink, section);
      sink.flush();
      parts.push_back(gzip.finish());
      lengths.push_back(static_cast<Offset>(parts.back().size()));
    }
  });
  write_sections(comm, path, lengths,
                 [&](std::size_t section, auto&& pass_on) { pass_on(parts[section]); });
}

}  // namespace

void write_in_rank_order(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                         int n_sections, const FormatText& format) {
  if (path.ends_with(".gz")) return write_compressed(comm, path, n_sections, format);
  const std::vector<Offset> lengths = mpi::collectively(*comm, [&] {
    std::vector<Offset> bytes(static_cast<std::size_t>(n_sections), 0);
    std::size_t section = 0;
    TextSink count(
        [&](std::string_view text) { bytes[section] += static_cast<Offset>(text.size()); });
    for (; section < bytes.size(); ++section) {
      format(count, static_cast<int>(section));
      count.flush();
    }
    return bytes;
  });
  write_sections(comm, path, lengths, [&](std::size_t section, auto&& pass_on) {
    TextSink sink(pass_on);
    format(sink, static_cast<int>(section));
    sink.flush();
  });
}

}  // namespace nodewise::io
