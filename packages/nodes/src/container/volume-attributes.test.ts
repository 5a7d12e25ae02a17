import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { pod } from '@gyropilot/api/testing'
import { fileSystemOf, givenFile, tokenFile, volumeFolder, sizeOf } from './volume-attributes.ts'

const of = (security: object, users: readonly (number | undefined)[] = [undefined]): Pod =>
  pod({
    spec: {
      securityContext: security,
      containers: users.map((runAsUser, at) => ({
        name: `c${at}`,
        image: 'i',
        securityContext: { runAsUser },
      })),
    },
  })
const usual = of({})
const grouped = of({ fsGroup: 7 })

test('files that are given keep their mode; the group of the pod may read them', () => {
  assert.deepEqual(givenFile(usual, 0o400), { mode: 0o400 })
  assert.deepEqual(givenFile(grouped, 0o400), { mode: 0o440, gid: 7 })
})

test('a token is its only user’s alone', () => {
  const modeAndUser = (given: Pod) => {
    const { mode, uid } = tokenFile(given, 0o644)
    return [mode, uid]
  }
  assert.deepEqual(modeAndUser(usual), [0o644, undefined])
  assert.deepEqual(modeAndUser(grouped), [0o640, undefined])
  assert.deepEqual(modeAndUser(of({ runAsUser: 5 })), [0o600, 5])
  assert.deepEqual(modeAndUser(of({ runAsUser: 5 }, [6, 6])), [0o600, 6])
  assert.deepEqual(modeAndUser(of({ runAsUser: 5 }, [6, undefined])), [0o644, undefined])
})

test('folders of volumes: an empty one is everybody’s, /tmp of the node too, others root’s; all but those of the node the group’s', () => {
  const emptyDir = { name: 'v', emptyDir: {} }
  const claim = { name: 'v', persistentVolumeClaim: { claimName: 'c' } }
  const host = (path: string) => ({ name: 'v', hostPath: { path } })
  assert.deepEqual(volumeFolder(usual, emptyDir), { mode: 0o1777 })
  assert.deepEqual(volumeFolder(grouped, emptyDir), { mode: 0o3777, gid: 7 })
  assert.deepEqual(volumeFolder(usual, claim), {})
  assert.deepEqual(volumeFolder(grouped, claim), { mode: 0o2775, gid: 7 })
  assert.deepEqual(volumeFolder(grouped, host('/tmp')), { mode: 0o1777 })
  assert.deepEqual(volumeFolder(grouped, host('/data')), {})
})

test('secrets, projections, fields and empty folders of medium Memory are in memory', () => {
  const name = 'v'
  assert.deepEqual(
    [
      { name, secret: {} },
      { name, projected: { sources: [] } },
      { name, downwardAPI: {} },
      { name, emptyDir: { medium: 'Memory' } },
      { name, emptyDir: {} },
      { name, configMap: { name } },
      { name, hostPath: { path: '/tmp' } },
    ].map(fileSystemOf),
    ['tmpfs', 'tmpfs', 'tmpfs', 'tmpfs', 'ext4', 'ext4', 'ext4'],
  )
})

test('a volume in memory is as large as its limit, or the memory that its pod may have', () => {
  const size = (emptyDir: object, ...limits: (string | undefined)[]) =>
    sizeOf(
      {
        spec: {
          containers: limits.map((memory, index) => ({
            name: `c${index}`,
            ...(memory && { resources: { limits: { memory } } }),
          })),
        },
      },
      { name: 'v', emptyDir },
    )
  const memory = { medium: 'Memory' }
  assert.equal(size({ ...memory, sizeLimit: '10Mi' }, '1Gi'), 10 * 2 ** 20)
  assert.equal(size({ ...memory, sizeLimit: '10Mi' }, '4Mi', '4Mi'), 8 * 2 ** 20)
  assert.equal(size(memory, '4Mi', undefined), undefined)
  assert.equal(size({ sizeLimit: '10Mi' }, '4Mi'), undefined)
})
