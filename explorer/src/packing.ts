// Answers of an engine: 4 bytes with the length H of the header, the header as JSON padded with spaces,
// then the numbers of its tables as little-endian f64. 4 + H is a multiple of 8.

import { EngineError, Run } from "./engine.ts";
import type { Column, RunFacts, Table } from "./engine.ts";

interface PackedColumn extends Omit<Column, "numbers"> {
  /** Where its numbers begin, in f64 from the start of the data. */
  offset?: number;
  length?: number;
}

interface Header {
  error?: string;
  run?: RunFacts & { tables: Record<string, { rows: number; columns: PackedColumn[] }> };
  [key: string]: unknown;
}

/** The header of an answer, and its numbers. Throws EngineError for an error, and for bytes that are no answer. */
export function unpacked(bytes: ArrayBuffer): { header: Header; numbers: Float64Array } {
  const length = bytes.byteLength >= 4 ? new DataView(bytes).getUint32(0, true) : -1;
  if (length < 0 || 4 + length > bytes.byteLength || (4 + length) % 8 !== 0) {
    throw new EngineError(`the engine's answer of ${bytes.byteLength} bytes is incomplete`);
  }
  const header = parsed(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  if (typeof header.error === "string") throw new EngineError(header.error);
  const count = Math.floor((bytes.byteLength - 4 - length) / 8);
  return { header, numbers: new Float64Array(bytes, 4 + length, count) };
}

function parsed(text: string): Header {
  try {
    return JSON.parse(text) as Header;
  } catch {
    throw new EngineError("the header of the engine's answer is not JSON");
  }
}

/** A part of a header that a request promises. */
export function part<T>(bytes: ArrayBuffer, name: string): T {
  const { header } = unpacked(bytes);
  if (!(name in header)) throw new EngineError(`the engine's answer has no \`${name}\``);
  return header[name] as T;
}

/** A run. Its columns are views of `bytes`: nothing is copied. */
export function runOf(bytes: ArrayBuffer): Run {
  const { header, numbers } = unpacked(bytes);
  if (!header.run) throw new EngineError("the engine's answer has no `run`");
  const { tables, ...facts } = header.run;
  const read: Record<string, Table> = {};
  for (const [name, table] of Object.entries(tables)) {
    read[name] = { rows: table.rows, columns: table.columns.map((column) => columnOf(column, numbers)) };
  }
  return new Run(facts, read, new Uint8Array(bytes));
}

function columnOf(column: PackedColumn, numbers: Float64Array): Column {
  const { offset, length, ...rest } = column;
  if (offset === undefined) return rest;
  return { ...rest, numbers: numbers.subarray(offset, offset + (length ?? 0)) };
}
