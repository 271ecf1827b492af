import type { HeaderList, Transport } from "../connection.ts";
import type { BodySender, ReceiveWindows } from "./flow_control.ts";
import * as h2 from "./protocol.ts";
import { countData, FieldBlock, type FloodGuard, takeHead } from "./response_rules.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { FrameEvents, FrameReader } from "./frame_reader.ts";
import { CompressionError } from "./hpack/huffman.ts";
import { HpackDecoder } from "./hpack/decoder.ts";
import type { PeerSettings } from "./settings.ts";
import type { KeepAlive } from "./keep_alive.ts";
import type { StreamEnds } from "./stream_ends.ts";
import type { StreamTable } from "./http2_stream.ts";

export interface IncomingEvents {
  onGoaway(last: number, code: number, debug: string): void;
  onPeerSettings(isFirst: boolean): void;
}

interface SessionParts {
  readonly transport: Transport;
  readonly streams: StreamTable;
  readonly output: FrameWriter;
  readonly sender: BodySender;
  readonly peer: PeerSettings;
  readonly windows: ReceiveWindows;
  readonly ends: StreamEnds;
  readonly noise: FloodGuard;
  readonly liveness: KeepAlive;
}

/** Handles each frame from the server. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-6} */
export class Incoming implements FrameEvents {
  /** The source of the frames, which is informed when a CONTINUATION must follow. */
  reader!: FrameReader;
  readonly #events: IncomingEvents;
  readonly #parts: SessionParts;
  readonly #decoder: HpackDecoder;
  readonly #block: FieldBlock;
  #settingsSeen = false;

  /** @param maxHeaderSize The maximum bytes of a response's head, counted as for SETTINGS_MAX_HEADER_LIST_SIZE. */
  constructor(events: IncomingEvents, parts: SessionParts, maxHeaderSize: number) {
    this.#events = events;
    this.#parts = parts;
    this.#decoder = new HpackDecoder(4096, maxHeaderSize);
    // Compressed fields are hardly larger; up to four times as much is still skipped to keep the other streams.
    this.#block = new FieldBlock(maxHeaderSize * 4);
  }

  onDataFrame(id: number, size: number, isLast: boolean): void {
    if (!this.#settingsSeen) throw wrongStart(h2.DATA);
    if (size > 0) this.#parts.windows.onConnectionData(size);
    const stream = this.#parts.streams.get(id);
    if (stream === undefined || stream.isAnswered) return this.#onClosedStream(id, h2.DATA, size > 0);
    if (size === 0 && !isLast) this.#parts.noise.count();
    stream.receiveWindow -= size;
    if (size > 0 && stream.receiveWindow < 0) {
      this.#parts.ends.reject(stream, h2.FLOW_CONTROL_ERROR, "it is larger than the window allows", false);
    }
  }

  onData(id: number, chunk: Uint8Array, start: number, end: number, isLast: boolean): void {
    const stream = this.#parts.streams.get(id);
    if (stream === undefined) return; // its frame was judged already
    const bytes = end - start;
    const wrong = countData(stream, bytes, isLast);
    if (wrong !== "") return this.#parts.ends.reject(stream, h2.PROTOCOL_ERROR, wrong, false);
    if (bytes > 0) {
      this.#parts.noise.earn(1);
      // A new view, since subarray() is slower, especially of a Buffer.
      stream.handler.onData(new Uint8Array(chunk.buffer as ArrayBuffer, chunk.byteOffset + start, bytes));
    }
    if (isLast && !stream.isOver) this.#parts.ends.complete(stream, undefined);
  }

  onPadding(id: number, bytes: number): void {
    this.#parts.noise.count();
    const stream = this.#parts.streams.get(id);
    if (stream !== undefined) this.#parts.windows.onConsumed(stream, bytes);
  }

  onFrame(type: number, flags: number, id: number, chunk: Uint8Array, start: number, end: number): void {
    if (!this.#settingsSeen && (type !== h2.SETTINGS || (flags & h2.ACK) !== 0)) throw wrongStart(type);
    if (type === h2.HEADERS) this.#onHeaders(flags, id, chunk, start, end);
    else if (type === h2.WINDOW_UPDATE) this.#onWindowUpdate(id, chunk, start, end);
    else if (type === h2.CONTINUATION) this.#onContinuation(flags, id, chunk, start, end);
    else if (type === h2.RST_STREAM) this.#onReset(id, chunk, start, end);
    else if (type === h2.SETTINGS) this.#onSettings(flags, id, chunk, start, end);
    else if (type === h2.PING) this.#onPing(flags, id, chunk, start, end);
    else if (type === h2.GOAWAY) this.#onGoaway(id, chunk, start, end);
    else if (type === h2.PUSH_PROMISE) throw h2.protocolFault("the server pushes, though we forbade it");
    else if (type === h2.PRIORITY) this.#onPriority(id, end - start);
    else this.#parts.noise.count(); // unknown types must be ignored
  }

  #onHeaders(flags: number, id: number, chunk: Uint8Array, start: number, end: number): void {
    this.#requireKnown(id, h2.HEADERS);
    if ((flags & h2.PADDED) !== 0) {
      if (start < end) end -= chunk[start];
      start++;
    }
    if ((flags & h2.HAS_PRIORITY) !== 0) start += 5;
    if (start > end) {
      const code = (flags & h2.PADDED) !== 0 ? h2.PROTOCOL_ERROR : h2.FRAME_SIZE_ERROR;
      throw new h2.ConnectionFault(code, "the server sent HEADERS that are too short for their padding");
    }
    const endsStream = (flags & h2.END_STREAM) !== 0;
    if ((flags & h2.END_HEADERS) !== 0) return this.#onBlock(id, chunk, start, end, endsStream);
    this.reader.unfinishedBlock = id;
    this.#block.begin(endsStream);
    this.#block.add(chunk, start, end);
  }

  #onContinuation(flags: number, id: number, chunk: Uint8Array, start: number, end: number): void {
    if (this.reader.unfinishedBlock === 0) {
      throw h2.protocolFault("the server sent CONTINUATION without HEADERS before");
    }
    this.#block.add(chunk, start, end);
    if ((flags & h2.END_HEADERS) === 0) return;
    this.reader.unfinishedBlock = 0;
    this.#onBlock(id, this.#block.bytes, 0, this.#block.length, this.#block.endsStream);
    this.#block.clear();
  }

  /** Handles a whole field block. It is decoded for ended streams, too, since later blocks depend on it. */
  #onBlock(id: number, block: Uint8Array, start: number, end: number, endsStream: boolean): void {
    const stream = this.#parts.streams.get(id);
    const areTrailers = stream !== undefined && stream.hasHead;
    const decoder = this.#decoder;
    let headers: HeaderList;
    try {
      headers = areTrailers ? decoder.decodeTrailers(block, start, end) : decoder.decodeHead(block, start, end);
    } catch (error) {
      if (error instanceof CompressionError) throw new h2.ConnectionFault(h2.COMPRESSION_ERROR, error.message);
      throw error;
    }
    if (stream === undefined || stream.isAnswered) return this.#onClosedStream(id, h2.HEADERS, false);
    if (decoder.tooLarge) {
      const message = "its header section is larger than maxHeaderSize allows";
      return this.#parts.ends.reject(stream, h2.PROTOCOL_ERROR, message, true);
    }
    const wrong = decoder.malformed !== ""
      ? decoder.malformed
      : areTrailers
      ? endsStream ? countData(stream, 0, true) : "HEADERS came in the middle of the body"
      : takeHead(stream, decoder, headers, endsStream);
    if (stream.isOver) return; // the handler has cancelled the request
    if (wrong !== "") return this.#parts.ends.reject(stream, h2.PROTOCOL_ERROR, wrong, false);
    this.#parts.liveness.onResponse(stream.sentAt);
    if (stream.hasHead) this.#parts.noise.earn(2);
    else this.#parts.noise.count();
    if (endsStream) this.#parts.ends.complete(stream, areTrailers ? headers : undefined);
  }

  #onWindowUpdate(id: number, chunk: Uint8Array, start: number, end: number): void {
    if (end - start !== 4) throw wrongSize(h2.WINDOW_UPDATE, end - start);
    const bytes = h2.readNumber(chunk, start) & h2.MAX_WINDOW;
    if (this.#parts.noise.countUpdate(bytes)) this.#parts.liveness.onRead();
    if (id === 0) {
      if (bytes === 0) throw h2.protocolFault("the server sent WINDOW_UPDATE of 0 bytes");
      return this.#parts.sender.widenConnection(bytes);
    }
    this.#requireKnown(id, h2.WINDOW_UPDATE);
    const stream = this.#parts.streams.get(id);
    if (stream === undefined) return;
    if (bytes === 0) {
      this.#parts.ends.reject(stream, h2.PROTOCOL_ERROR, "WINDOW_UPDATE of 0 bytes came", false);
    } else if (!this.#parts.sender.widen(stream, bytes)) {
      this.#parts.ends.reject(stream, h2.FLOW_CONTROL_ERROR, "its window was widened beyond 2^31 - 1 bytes", false);
    }
  }

  #onReset(id: number, chunk: Uint8Array, start: number, end: number): void {
    if (end - start !== 4) throw wrongSize(h2.RST_STREAM, end - start);
    this.#requireKnown(id, h2.RST_STREAM);
    const stream = this.#parts.streams.get(id);
    // One for each request is legitimate: after the response, a server may reset the stream to stop an unwanted body.
    this.#parts.noise.count();
    if (stream !== undefined) this.#parts.ends.reset(stream, h2.readNumber(chunk, start) >>> 0);
  }

  /** Checks a PRIORITY frame, whose content is not used. */
  #onPriority(id: number, size: number): void {
    if (id === 0) throw h2.protocolFault("the server sent PRIORITY for the connection");
    this.#parts.noise.count();
    const stream = this.#parts.streams.get(id);
    if (size === 5) return;
    if (stream !== undefined) {
      this.#parts.ends.reject(stream, h2.FRAME_SIZE_ERROR, `PRIORITY of ${size} bytes came`, false);
    } else if (this.#parts.streams.isKnown(id)) {
      this.#parts.noise.countAnswer(this.#parts.transport.full);
      this.#parts.output.addReset(id, h2.FRAME_SIZE_ERROR);
    } else {
      throw wrongSize(h2.PRIORITY, size);
    }
  }

  #onSettings(flags: number, id: number, chunk: Uint8Array, start: number, end: number): void {
    requireConnection(id, h2.SETTINGS);
    if ((flags & h2.ACK) !== 0) {
      if (end > start) throw wrongSize(h2.SETTINGS, end - start);
      this.#parts.noise.count();
      return this.#parts.windows.onSettingsKnown(this.#parts.streams.all());
    }
    const isFirst = !this.#settingsSeen;
    if (!isFirst) this.#parts.noise.countAnswer(this.#parts.transport.full);
    this.#settingsSeen = true;
    this.#parts.peer.read(chunk, start, end);
    this.#parts.output.addSettings([]);
    this.#events.onPeerSettings(isFirst);
  }

  #onPing(flags: number, id: number, chunk: Uint8Array, start: number, end: number): void {
    requireConnection(id, h2.PING);
    if (end - start !== 8) throw wrongSize(h2.PING, end - start);
    if ((flags & h2.ACK) !== 0) {
      this.#parts.noise.count();
      return this.#parts.liveness.onAnswer(h2.readNumber(chunk, start + 4));
    }
    this.#parts.noise.countAnswer(this.#parts.transport.full);
    this.#parts.output.addPingAnswer(chunk, start);
  }

  #onGoaway(id: number, chunk: Uint8Array, start: number, end: number): void {
    requireConnection(id, h2.GOAWAY);
    if (end - start < 8) throw wrongSize(h2.GOAWAY, end - start);
    this.#parts.noise.count();
    const debug = String.fromCharCode(...chunk.subarray(start + 8, Math.min(end, start + 8 + 200)));
    this.#events.onGoaway(h2.readNumber(chunk, start) & h2.MAX_STREAM, h2.readNumber(chunk, start + 4) >>> 0, debug);
  }

  /** Handles DATA or HEADERS for a stream that is not open; `isBounded`: windows limit how many may arrive. */
  #onClosedStream(id: number, type: number, isBounded: boolean): void {
    this.#requireKnown(id, type);
    if (this.#parts.ends.closed.judge(id, type)) {
      this.#parts.noise.countAnswer(this.#parts.transport.full);
      this.#parts.output.addReset(id, h2.STREAM_CLOSED);
    } else if (!isBounded) {
      this.#parts.noise.count();
    }
  }

  #requireKnown(id: number, type: number): void {
    if (this.#parts.streams.isKnown(id)) return;
    throw h2.protocolFault(`the server sent a ${h2.frameName(type)} frame for stream ${id}, which was never opened`);
  }
}

function requireConnection(id: number, type: number): void {
  if (id === 0) return;
  throw h2.protocolFault(`the server sent a ${h2.frameName(type)} frame for stream ${id} instead of the connection`);
}

function wrongStart(type: number): h2.ConnectionFault {
  return h2.protocolFault(`the server began with a ${h2.frameName(type)} frame instead of SETTINGS`);
}

function wrongSize(type: number, size: number): h2.ConnectionFault {
  return new h2.ConnectionFault(h2.FRAME_SIZE_ERROR, `the server sent a ${h2.frameName(type)} frame of ${size} bytes`);
}
