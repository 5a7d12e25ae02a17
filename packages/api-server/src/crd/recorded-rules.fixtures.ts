/** The schemas at which the recorded rules stood, and the object that they judged. */
import type { Schema } from './schemas/structural-schema.ts'

const estimates = {
  s: { type: 'string' },
  t: { type: 'string' },
  s10: { type: 'string', maxLength: 10 },
  s20: { type: 'string', maxLength: 20 },
  e: { type: 'string', enum: ['abc', 'de'] },
  i: { type: 'integer' },
  j: { type: 'integer' },
  n: { type: 'number' },
  b: { type: 'boolean' },
  l: { type: 'array', items: { type: 'string' } },
  li: { type: 'array', items: { type: 'integer' } },
  l5: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 10 } },
  k5: { type: 'array', maxItems: 7, items: { type: 'string', maxLength: 10 } },
  li5: { type: 'array', maxItems: 5, items: { type: 'integer' } },
  ll: {
    type: 'array',
    maxItems: 3,
    items: { type: 'array', maxItems: 4, items: { type: 'integer' } },
  },
  m: { type: 'object', additionalProperties: { type: 'string' } },
  m5: { type: 'object', maxProperties: 5, additionalProperties: { type: 'string', maxLength: 10 } },
  mo: {
    type: 'object',
    maxProperties: 5,
    additionalProperties: {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 10 },
        b: { type: 'integer' },
        c: { type: 'object', properties: { d: { type: 'string' } } },
      },
    },
  },
  o: {
    type: 'object',
    properties: {
      a: { type: 'string', maxLength: 10 },
      b: { type: 'integer' },
      c: { type: 'object', properties: { d: { type: 'string' } } },
    },
  },
  o2: {
    type: 'object',
    properties: {
      a: { type: 'string', maxLength: 10 },
      b: { type: 'integer' },
      c: { type: 'object', properties: { d: { type: 'string' } } },
    },
  },
  lo: {
    type: 'array',
    maxItems: 5,
    items: {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 10 },
        b: { type: 'integer' },
        c: { type: 'object', properties: { d: { type: 'string' } } },
      },
    },
  },
  ts: { type: 'string', format: 'date-time' },
  d: { type: 'string', format: 'date' },
  du: { type: 'string', format: 'duration' },
  by: { type: 'string', format: 'byte' },
  by10: { type: 'string', format: 'byte', maxLength: 10 },
  ios: { 'x-kubernetes-int-or-string': true },
  set: { type: 'array', maxItems: 5, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  p: {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { k: { type: 'string' } },
  },
}

const outcomes = {
  s: { type: 'string' },
  t: { type: 'string' },
  i: { type: 'integer' },
  j: { type: 'integer' },
  n: { type: 'number' },
  b: { type: 'boolean' },
  absent: { type: 'string' },
  l: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 9 } },
  li: { type: 'array', maxItems: 5, items: { type: 'integer' } },
  m: { type: 'object', maxProperties: 5, additionalProperties: { type: 'string', maxLength: 9 } },
  o: {
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { type: 'integer' },
      c: { type: 'object', properties: { d: { type: 'string' } } },
    },
  },
  lo: {
    type: 'array',
    maxItems: 5,
    items: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'integer' },
        c: { type: 'object', properties: { d: { type: 'string' } } },
      },
    },
  },
  ts: { type: 'string', format: 'date-time' },
  d: { type: 'string', format: 'date' },
  du: { type: 'string', format: 'duration' },
  by: { type: 'string', format: 'byte' },
  ios: { 'x-kubernetes-int-or-string': true },
  set: {
    type: 'array',
    maxItems: 5,
    items: { type: 'string', maxLength: 9 },
    'x-kubernetes-list-type': 'set',
  },
}

export const FIELDS = { estimates, outcomes } as unknown as Readonly<
  Record<'estimates' | 'outcomes', Readonly<Record<string, Schema>>>
>

export const VALUE = {
  s: 'abc',
  t: 'äöü😀',
  i: 5,
  j: -3,
  n: 1.5,
  b: true,
  l: ['a', 'b', 'c'],
  li: [3, 1, 2],
  m: { x: '1', y: '2' },
  o: { a: 'q', b: 7 },
  lo: [
    { a: 'x', b: 2 },
    { a: 'y', b: 1 },
  ],
  ts: '2026-11-22T10:00:00.5Z',
  d: '2026-11-22',
  du: '1h30m',
  by: 'aGVsbG8=',
  ios: '50%',
  set: ['p', 'q'],
}
