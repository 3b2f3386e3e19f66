/* Broadcast, reduction and gathering: one rank is the root. */
#include "algorithms.hpp"
#include "choices.hpp"
#include "messages.hpp"

#include <algorithm>

namespace bareline
{

using simgrid::smpi::Request;

int broadcast_tree(Shape shape, void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const Team team(comm);
    const Place place = place_in(shape, team.rank, team.ranks, root);
    if (place.parent >= 0)
        Request::recv(data, count, type, place.parent, tag, comm, MPI_STATUS_IGNORE);
    std::vector<MPI_Request> sends;
    for (const int child : place.children)
        sends.push_back(Request::isend(data, count, type, child, tag, comm));
    return Request::waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

int reduce_tree(Shape shape, const void *terms, void *result, int count, MPI_Datatype type,
                MPI_Op op, int root, MPI_Comm comm)
{
    const Team team(comm);
    const Elements elements(type);
    const Place place = place_in(shape, team.rank, team.ranks, root);
    const void *const mine = terms == MPI_IN_PLACE ? result : terms;
    if (place.children.empty() && place.parent >= 0) {
        Request::send(mine, count, type, place.parent, tag, comm);
        return MPI_SUCCESS;
    }
    auto sum = elements.room(count);
    elements.copy(mine, sum.data(), count);
    std::vector<std::vector<char>> arrived;
    std::vector<MPI_Request> requests;
    for (const int child : place.children) {
        arrived.push_back(elements.room(count));
        requests.push_back(Request::irecv(arrived.back().data(), count, type, child, tag, comm));
    }
    for (size_t i = 0; i < requests.size(); i++) {
        Request::wait(&requests[i], MPI_STATUS_IGNORE);
        elements.add(arrived[i].data(), sum.data(), count, op);
    }
    if (place.parent >= 0)
        Request::send(sum.data(), count, type, place.parent, tag, comm);
    else
        elements.copy(sum.data(), result, count);
    return MPI_SUCCESS;
}

/* The root calls one rank after the other: each sends a first part when it is called, and the rest
 * when that has arrived. */
int gather_called(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                  MPI_Datatype in_type, int root, MPI_Comm comm)
{
    enum { CALL = tag - 1, FIRST = tag - 2, REST = tag - 3 };
    const Team team(comm);
    const bool is_root = team.rank == root;
    const Elements elements(is_root ? in_type : out_type);
    const int count = is_root ? in_count : out_count;
    const long limit_bytes = elements.bytes(count) > 92160 ? 32768 : 1024;
    const int first =
        static_cast<int>(std::min<long>(count, limit_bytes / std::max<long>(elements.bytes(1), 1)));
    if (!is_root) {
        Request::recv(nullptr, 0, MPI_BYTE, root, CALL, comm, MPI_STATUS_IGNORE);
        Request::send(out, first, out_type, root, FIRST, comm);
        Request::send(elements.at(out, first), count - first, out_type, root, REST, comm);
        return MPI_SUCCESS;
    }
    std::vector<MPI_Request> rests;
    for (int rank = 0; rank < team.ranks; rank++) {
        char *const place = elements.at(in, static_cast<long>(rank) * count);
        if (rank == root) {
            if (out != MPI_IN_PLACE)
                simgrid::smpi::Datatype::copy(out, out_count, out_type, place, in_count, in_type);
            continue;
        }
        MPI_Request part = Request::irecv(place, first, in_type, rank, FIRST, comm);
        Request::send(nullptr, 0, MPI_BYTE, rank, CALL, comm);
        rests.push_back(
            Request::irecv(elements.at(place, first), count - first, in_type, rank, REST, comm));
        Request::wait(&part, MPI_STATUS_IGNORE);
    }
    return Request::waitall(static_cast<int>(rests.size()), rests.data(), MPI_STATUSES_IGNORE);
}

} /* namespace bareline */
