import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signingAuthorities } from './signing-authorities.ts'

const optionsOf = (given: Readonly<Record<string, string>>) => ({
  text: (flag: string) => given[flag] ?? '',
})

test('a general pair signs for all, a specific one for its signer only', async () => {
  const read: string[] = []
  const readTextFile = (path: string): Promise<string> => {
    read.push(path)
    return Promise.resolve(`content of ${path}`)
  }
  const general = signingAuthorities(
    optionsOf({ 'cluster-signing-cert-file': '/ca.crt', 'cluster-signing-key-file': '/ca.key' }),
    readTextFile,
  )
  assert.equal(Object.keys(general).length, 4)
  assert.equal(new Set(Object.values(general)).size, 1)
  for (const [flag, signer] of [
    ['kubelet-serving', 'kubernetes.io/kubelet-serving'],
    ['kubelet-client', 'kubernetes.io/kube-apiserver-client-kubelet'],
    ['kube-apiserver-client', 'kubernetes.io/kube-apiserver-client'],
    ['legacy-unknown', 'kubernetes.io/legacy-unknown'],
  ] as const) {
    const own = signingAuthorities(
      optionsOf({
        [`cluster-signing-${flag}-cert-file`]: `/${flag}.crt`,
        [`cluster-signing-${flag}-key-file`]: `/${flag}.key`,
      }),
      readTextFile,
    )
    assert.deepEqual(Object.keys(own), [signer])
    assert.deepEqual(await own[signer]?.read(), {
      certificatePem: `content of /${flag}.crt`,
      privateKeyPem: `content of /${flag}.key`,
    })
  }
  const incomplete: Readonly<Record<string, string>>[] = [
    {},
    { 'cluster-signing-cert-file': '/ca.crt' },
    { 'cluster-signing-kubelet-client-key-file': '/k.key' },
  ]
  for (const half of incomplete)
    assert.deepEqual(signingAuthorities(optionsOf(half), readTextFile), {})
})

test('a file that cannot be read is told as upstream does: by the file of the certificate', async () => {
  const readTextFile = async (path: string): Promise<string> => {
    if (path === '/ca.crt') return 'content'
    throw new Error(`open ${path}: no such file or directory`)
  }
  for (const [cert, key, missing] of [
    ['/ca.crt', '/y', '/y'],
    ['/x', '/y', '/x'],
  ] as const) {
    const found = signingAuthorities(
      optionsOf({ 'cluster-signing-cert-file': cert, 'cluster-signing-key-file': key }),
      readTextFile,
    )
    await assert.rejects(async () => found['kubernetes.io/kubelet-serving']!.read(), {
      message: `error reading CA cert file "${cert}": open ${missing}: no such file or directory`,
    })
  }
})
