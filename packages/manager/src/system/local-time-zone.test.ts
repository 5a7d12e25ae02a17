import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localTimeZone } from './local-time-zone.ts'

const asked = new Intl.DateTimeFormat().resolvedOptions().timeZone
const noLink = (): string => {
  throw Object.assign(new Error('no link'), { code: 'EINVAL' })
}

test('a machine on UTC is known by the link of its zone, without the zones of the world', () => {
  for (const name of ['Etc/UTC', 'UTC', 'Zulu', 'Etc/UCT', 'Universal'])
    assert.equal(
      localTimeZone(undefined, () => `/usr/share/zoneinfo/${name}`),
      'UTC',
    )
  assert.equal(localTimeZone('UTC', noLink), 'UTC')
})

test('any other machine is asked for its zone: another link, no link, a variable', (t) => {
  const resolved = t.mock.method(Intl, 'DateTimeFormat')
  assert.equal(
    localTimeZone(undefined, () => '../usr/share/zoneinfo/Europe/Berlin'),
    asked,
  )
  assert.equal(
    localTimeZone(undefined, () => '/usr/share/zoneinfo/America/UTC-not'),
    asked,
  )
  assert.equal(localTimeZone(undefined, noLink), asked)
  assert.equal(
    localTimeZone('Europe/Berlin', () => '/usr/share/zoneinfo/UTC'),
    asked,
  )
  assert.equal(
    localTimeZone('', () => '/usr/share/zoneinfo/UTC'),
    asked,
  )
  assert.equal(resolved.mock.callCount(), 5)
})
