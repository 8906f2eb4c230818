%% The BEAM's side of the comparisons: the same scenarios, with its processes and their mailboxes.
%%
%% It reads one line per round from its standard input, a scenario's name and its numbers, and
%% answers with the nanoseconds that the round took, or the bytes. Between rounds it waits for the
%% next line, so that the others have the machine to themselves.
-module(filch_rival).
-export([start/0]).

start() ->
    process_flag(message_queue_data, off_heap),
    serve().

serve() ->
    case io:get_line("") of
        eof ->
            halt();
        Line ->
            [Scenario | Numbers] = string:lexemes(string:trim(Line), " "),
            io:format("~w~n", [round(Scenario, [list_to_integer(Number) || Number <- Numbers])]),
            serve()
    end.

round("idle", [Processes]) ->
    idle(Processes);
round(Scenario, Numbers) ->
    Start = erlang:monotonic_time(nanosecond),
    scenario(Scenario, Numbers),
    erlang:monotonic_time(nanosecond) - Start.

scenario("spawn", [Waves, Wave]) -> repeat(Waves, fun() -> spawn_all(Wave) end);
scenario("tree", [Trees, Depth]) -> repeat(Trees, fun() -> tree(Depth) end);
scenario("ring", [Hops, Size]) -> ring(Hops, Size);
scenario("skynet", [Leaves]) -> skynet(Leaves);
scenario("fan-in", [Bursts, Senders, Each]) -> repeat(Bursts, fun() -> fan_in(Senders, Each) end).

repeat(0, _Work) ->
    ok;
repeat(Times, Work) ->
    Work(),
    repeat(Times - 1, Work).

%% As many numbers as `Count`, from anybody.
sum(0, Sum) ->
    Sum;
sum(Count, Sum) ->
    receive
        Number when is_integer(Number) -> sum(Count - 1, Sum + Number)
    end.

%% A wave of processes that send their numbers, and the wait for them.
spawn_all(Wave) ->
    All = self(),
    start_numbers(Wave, All),
    Expected = Wave * (Wave + 1) div 2,
    Expected = sum(Wave, 0).

start_numbers(0, _All) ->
    ok;
start_numbers(Number, All) ->
    spawn(fun() -> All ! Number end),
    start_numbers(Number - 1, All).

%% A tree of processes: each starts two of one less depth; those of depth 0 are counted, and the
%% last one tells.
tree(Depth) ->
    Root = self(),
    Left = atomics:new(1, []),
    atomics:put(Left, 1, 1 bsl Depth),
    spawn(fun() -> grow(Depth, Left, Root) end),
    receive
        grown -> ok
    end.

grow(0, Left, Root) ->
    case atomics:sub_get(Left, 1, 1) of
        0 -> Root ! grown;
        _ -> ok
    end;
grow(Depth, Left, Root) ->
    spawn(fun() -> grow(Depth - 1, Left, Root) end),
    spawn(fun() -> grow(Depth - 1, Left, Root) end).

%% A tree of processes, ten to a knot: each leaf has a number, each knot the sum of the numbers
%% below it.
skynet(Leaves) ->
    Root = self(),
    spawn(fun() -> skynet(Root, 0, Leaves) end),
    Expected = Leaves * (Leaves - 1) div 2,
    Expected = sum(1, 0).

skynet(Knot, First, 1) ->
    Knot ! First;
skynet(Knot, First, Leaves) ->
    Self = self(),
    Each = Leaves div 10,
    [spawn(fun() -> skynet(Self, First + Child * Each, Each) end) || Child <- lists:seq(0, 9)],
    Knot ! sum(10, 0).

%% One number goes round a ring of processes, which is how many hops are left.
ring(Hops, Size) ->
    Root = self(),
    Last = spawn(fun() ->
        receive
            {next, First} -> pass(First, Root)
        end
    end),
    Entry = lists:foldl(
        fun(_, Next) -> spawn(fun() -> pass(Next, Root) end) end, Last, lists:seq(2, Size)
    ),
    Last ! {next, Entry},
    Entry ! Hops,
    receive
        over -> Entry ! stop
    end.

pass(Next, Root) ->
    receive
        0 ->
            Root ! over,
            pass(Next, Root);
        stop ->
            % It goes round as well; who was the first is not there any more.
            Next ! stop;
        Left ->
            Next ! Left - 1,
            pass(Next, Root)
    end.

%% Many senders, each with as many numbers, and one receiver.
fan_in(Senders, Each) ->
    Root = self(),
    Receive = fun() -> Root ! sum(Senders * Each, 0) end,
    Sink = spawn_opt(Receive, [{message_queue_data, off_heap}]),
    [spawn(fun() -> send_all(Sink, Each) end) || _ <- lists:seq(1, Senders)],
    Expected = Senders * (Each * (Each + 1) div 2),
    Expected = sum(1, 0).

send_all(_Sink, 0) ->
    ok;
send_all(Sink, Number) ->
    Sink ! Number,
    send_all(Sink, Number - 1).

%% The memory of as many processes, each of which has had a message and waits for the next one.
idle(Processes) ->
    Root = self(),
    Others = erlang:system_info(process_count),
    Before = erlang:memory(total),
    All = [spawn(fun() -> idler(Root) end) || _ <- lists:seq(1, Processes)],
    [Process ! 1 || Process <- All],
    Processes = sum(Processes, 0),
    % The list of them is where they are addressed: it is not counted.
    Bytes = erlang:memory(total) - Before - Processes * 2 * erlang:system_info(wordsize),
    [exit(Process, kill) || Process <- All],
    wait_for(Others),
    Bytes.

%% Until there are no more processes than these.
wait_for(Others) ->
    case erlang:system_info(process_count) > Others of
        true ->
            erlang:yield(),
            wait_for(Others);
        false ->
            ok
    end.

idler(Root) ->
    receive
        Number ->
            Root ! Number,
            idler(Root)
    end.
