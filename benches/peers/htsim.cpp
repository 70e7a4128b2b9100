// The dumbbell of W1 and W3 on csg-htsim, over one link each way or three, so that the ratios of
// docs/explanation/speed.md can be taken again. A program of ours against its classes; it holds
// nothing of theirs. Build, with their own flags:
//
//   git clone https://github.com/Broadcom/csg-htsim && git -C csg-htsim checkout 841d9e7
//   make -C csg-htsim/sim
//   g++ -std=c++17 -O3 -I csg-htsim/sim benches/peers/htsim.cpp csg-htsim/sim/libhtsim.a -o htsim-dumbbell
//
// htsim-dumbbell FLOWS BOTTLENECK_MBPS QUEUE_PACKETS SECONDS [LINKS]
#include "config.h"

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace {

// A line of its own at 1 Gb/s and 1 ms, whose queue never fills.
void add_private_line(Route &route, EventList &events) {
    route.push_back(new Queue(speedFromMbps(1000.0), memFromPkt(1000000), events, nullptr));
    route.push_back(new Pipe(timeFromMs(1.0), events));
}

struct Bottleneck {
    Queue queue;
    Pipe line;
    Bottleneck(double mbps, int packets, double ms, EventList &events)
        : queue(speedFromMbps(mbps), memFromPkt(packets), events, nullptr),
          line(timeFromMs(ms), events) {}
};

// The bottleneck, between private lines or alone, and the endpoint.
Route *way(Bottleneck &shared, bool private_lines, PacketSink *end, EventList &events) {
    auto *route = new Route();
    if (private_lines) add_private_line(*route, events);
    route->push_back(&shared.queue);
    route->push_back(&shared.line);
    if (private_lines) add_private_line(*route, events);
    route->push_back(end);
    return route;
}

}  // namespace

int main(int argc, char **argv) {
    const int links = argc == 6 ? std::atoi(argv[5]) : 3;
    if (argc < 5 || argc > 6 || (links != 1 && links != 3)) {
        std::fprintf(stderr, "usage: %s FLOWS BOTTLENECK_MBPS QUEUE_PACKETS SECONDS [1 or 3 LINKS]\n",
                     argv[0]);
        return 2;
    }
    const bool private_lines = links == 3;
    const double ms = private_lines ? 18.0 : 20.0;
    const int flows = std::atoi(argv[1]), queue = std::atoi(argv[3]);
    const double mbps = std::atof(argv[2]), seconds = std::atof(argv[4]);
    std::cout.setstate(std::ios_base::badbit);  // it reports every timeout
    EventList &events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(seconds));
    Packet::set_packet_size(1500);
    Bottleneck forth(mbps, queue, ms, events), back(mbps, queue, ms, events);
    TcpRtxTimerScanner timers(timeFromMs(10.0), events);
    std::vector<TcpSink *> sinks;
    for (int i = 0; i < flows; i++) {
        auto *source = new TcpSrc(nullptr, nullptr, events);
        auto *sink = new TcpSink();
        source->set_cwnd(10 * 1500);
        source->set_ssthresh(100 * 1500);
        timers.registerTcp(*source);
        source->connect(*way(forth, private_lines, sink, events),
                        *way(back, private_lines, source, events), *sink,
                        static_cast<simtime_picosec>(drand() * timeFromMs(100.0)));
        sinks.push_back(sink);
    }
    while (events.doNextEvent()) {
    }
    unsigned long long bytes = 0;
    for (const TcpSink *sink : sinks) bytes += sink->_packets;  // it counts bytes
    // Each segment that arrived and its ACK crossed every link; what was dropped is left out.
    std::printf("hops %llu\n", 2 * links * (bytes / 1500));
}
