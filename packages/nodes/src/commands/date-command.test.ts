import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

for (const [script, expected] of [
  ['date', 'Thu Jan  1 00:00:00 UTC 1970\n'],
  ['date +%s%N', '0000000000\n'],
  ["date -d '@1700000000.5' '+%e %j %D %R %3N %-d %k'", '14 318 11/14/23 22:13 500 14 22\n'],
  [
    "date -d @1700000000 '+%a %A %b %B %I %p %y %u %z %Z'",
    'Tue Tuesday Nov November 10 PM 23 2 +0000 UTC\n',
  ],
  ["date -d @1700000000 '+%U %W %C %l %r'", '46 46 20 10 10:13:20 PM\n'],
  ["date -d '2026-01-04' '+%_d|%-m|%^a|100%%'", ' 4|1|SUN|100%\n'],
  ['date -u -d 2026-01-02T03:04:05+01:00 +%FT%TZ', '2026-01-02T02:04:05Z\n'],
  ["date -d '2026-01-02 03:04' -R", 'Fri, 02 Jan 2026 03:04:00 +0000\n'],
  ['date -I; date -Iseconds', '1970-01-01\n1970-01-01T00:00:00+00:00\n'],
  ['date --iso-8601=minutes', '1970-01-01T00:00+00:00\n'],
  [
    "date -d '2 hours ago' +%s; date -d '+1 day' +%s; date -d yesterday +%s",
    '-7200\n86400\n-86400\n',
  ],
  ['date +%V', 'date: +%V is not known to simulated containers\n(1)'],
  ["date -d 'next monday'", 'date: -d next monday is not known to simulated containers\n(1)'],
  ['date -s 2026-01-01', 'date: -s is not known to simulated containers\n(1)'],
  ['date -Iyears', 'date: -Iyears is not known to simulated containers\n(1)'],
] as const)
  test(script, async () => assert.equal(await saidWith({}, script), expected))
