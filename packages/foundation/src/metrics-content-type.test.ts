import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metricsContentType } from './metrics-content-type.ts'

/** As the 1.36.2 manager answered each. */
const ASKED: readonly (readonly [string | undefined, string])[] = [
  [undefined, 'underscores'],
  ['*/*', 'underscores'],
  ['application/json', 'underscores'],
  ['text/plain;version=0.0.4;escaping=allow-utf-8', 'allow-utf-8'],
  ['text/plain;version=1.0.0;escaping=allow-utf-8', 'allow-utf-8'],
  [
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5',
    'allow-utf-8',
  ],
  ['text/plain;escaping=foo', 'underscores'],
  ['text/plain;escaping=ALLOW-UTF-8', 'underscores'],
  ['text/plain;escaping="dots"', 'underscores'],
  ['text/plain; escaping = dots', 'dots'],
  ['*/*;escaping=dots', 'dots'],
  ['application/openmetrics-text;version=0.0.1;escaping=values', 'values'],
  ['application/openmetrics-text;escaping=dots,text/plain;q=0.5', 'dots'],
  ['text/plain;q=0.5,application/openmetrics-text;escaping=dots', 'dots'],
  ['text/plain;q=0.9;escaping=values,text/plain;q=0.95;escaping=dots', 'dots'],
  ['application/openmetrics-text;escaping=dots,text/html;escaping=values', 'values'],
  ['text/html;escaping=values,application/openmetrics-text;escaping=dots;q=0.3', 'dots'],
  ['text/plain;version=9;escaping=dots,*/*', 'dots'],
  ['text/html;escaping=dots, text/plain;version=0.0.4', 'dots'],
]
for (const [accept, escaping] of ASKED)
  test(`metrics are told to be escaped by ${escaping} to who accepts ${accept}`, () =>
    assert.equal(
      metricsContentType(accept),
      `text/plain; version=0.0.4; charset=utf-8; escaping=${escaping}`,
    ))
