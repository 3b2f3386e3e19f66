/* Functions in which every rank has something for every other. */
#include "algorithms.hpp"
#include "messages.hpp"

namespace bareline
{

using simgrid::smpi::Request;

int gather_around(const void *out, int out_count, MPI_Datatype out_type, void *in,
                  const int *counts, const int *starts, MPI_Datatype in_type, MPI_Comm comm)
{
    const Team team(comm);
    const Elements elements(in_type);
    if (out != MPI_IN_PLACE)
        simgrid::smpi::Datatype::copy(out, out_count, out_type, elements.at(in, starts[team.rank]),
                                      counts[team.rank], in_type);
    for (int step = 0; step < team.ranks - 1; step++) {
        const int given = team.after(-step), taken = team.after(-step - 1);
        Request::sendrecv(elements.at(in, starts[given]), counts[given], in_type, team.after(1),
                          tag, elements.at(in, starts[taken]), counts[taken], in_type,
                          team.after(-1), tag, comm, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

int exchange_in_pairs(const void *out, const int *out_counts, const int *out_starts,
                      MPI_Datatype out_type, void *in, const int *in_counts, const int *in_starts,
                      MPI_Datatype in_type, MPI_Comm comm)
{
    const Team team(comm);
    const Elements sends(out_type), receives(in_type);
    for (int step = 0; step < team.ranks; step++) {
        const int to = team.after(step), from = team.after(-step);
        const char *const given = sends.at(out, out_starts[to]);
        char *const taken = receives.at(in, in_starts[from]);
        if (step == 0) {
            simgrid::smpi::Datatype::copy(given, out_counts[to], out_type, taken, in_counts[from],
                                          in_type);
            continue;
        }
        MPI_Request request = MPI_REQUEST_NULL;
        if (in_counts[from] > 0)
            request = Request::irecv(taken, in_counts[from], in_type, from, tag, comm);
        if (out_counts[to] > 0)
            Request::send(given, out_counts[to], out_type, to, tag, comm);
        if (in_counts[from] > 0)
            Request::wait(&request, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

int exchange_at_once(const void *out, const int *out_counts, const int *out_starts,
                     MPI_Datatype out_type, void *in, const int *in_counts, const int *in_starts,
                     MPI_Datatype in_type, MPI_Comm comm)
{
    const Team team(comm);
    const Elements sends(out_type), receives(in_type);
    std::vector<MPI_Request> requests;
    for (int rank = 0; rank < team.ranks; rank++)
        if (rank != team.rank && in_counts[rank] > 0)
            requests.push_back(Request::irecv(receives.at(in, in_starts[rank]), in_counts[rank],
                                              in_type, rank, tag, comm));
    for (int rank = 0; rank < team.ranks; rank++)
        if (rank != team.rank && out_counts[rank] > 0)
            requests.push_back(Request::isend(sends.at(out, out_starts[rank]), out_counts[rank],
                                              out_type, rank, tag, comm));
    simgrid::smpi::Datatype::copy(sends.at(out, out_starts[team.rank]), out_counts[team.rank],
                                  out_type, receives.at(in, in_starts[team.rank]),
                                  in_counts[team.rank], in_type);
    return Request::waitall(static_cast<int>(requests.size()), requests.data(),
                            MPI_STATUSES_IGNORE);
}

} /* namespace bareline */
