import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterCidr, serviceRanges } from '@gyropilot/cluster/live'
import type { IpFamily } from '@gyropilot/cluster/live'
import { familyOf } from './ip-family.ts'
import { IP_FAMILIES } from './up-flags.ts'
import { upOptions } from './up-options.ts'

type Kept = Parameters<typeof familyOf>[1]

/** As the server leaves it. */
function kept(family?: IpFamily): Kept {
  const object = {
    metadata: { name: 'kubernetes' },
    spec: { cidrs: family && serviceRanges(family) },
  }
  const entry = { key: 'kubernetes', object, revision: 1, writtenAtMs: 0 }
  return {
    get: ({ collection, key }) =>
      family !== undefined &&
      collection === 'servicecidrs.networking.k8s.io' &&
      key === 'kubernetes'
        ? entry
        : undefined,
  }
}

test('a new cluster has the family that is asked for, IPv4 by default', () => {
  assert.equal(familyOf(upOptions([]), kept()), 'ipv4')
  for (const family of IP_FAMILIES)
    assert.equal(familyOf(upOptions([`--ip-family=${family}`]), kept()), family)
})

test('a data directory keeps its family, and another one is refused', () => {
  for (const family of IP_FAMILIES) {
    assert.equal(familyOf(upOptions(['--data-dir=d']), kept(family)), family)
    for (const asked of IP_FAMILIES) {
      const options = upOptions(['--data-dir=/d', `--ip-family=${asked}`])
      if (asked === family) assert.equal(familyOf(options, kept(family)), family)
      else
        assert.throws(() => familyOf(options, kept(family)), {
          code: 'UP_FLAG_INVALID',
          message: `--ip-family=${asked}: the cluster in /d has ${family}: leave the flag out, or choose another --data-dir`,
        })
    }
  }
})

test('a family that there is not, and one that a cloud lacks, are refused', () => {
  assert.throws(() => upOptions(['--ip-family=ipv5']), { code: 'UP_FLAG_INVALID' })
  assert.throws(() => upOptions(['--cloud=loopback', '--ip-family=ipv6']), {
    code: 'UP_FLAG_INVALID',
    message: '--cloud=loopback has addresses of IPv4 only: use --ip-family dual',
  })
})

test('pods and Services of a cluster of both families have ranges of both, IPv4 first', () => {
  assert.equal(clusterCidr('dual'), `${clusterCidr('ipv4')},${clusterCidr('ipv6')}`)
  assert.deepEqual(serviceRanges('dual'), [...serviceRanges('ipv4'), ...serviceRanges('ipv6')])
})
