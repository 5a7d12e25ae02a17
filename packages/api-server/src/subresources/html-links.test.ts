import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passedLink, withPassedLinks } from './html-links.ts'

const SOURCE = {
  ownPath: '/api/v1/namespaces/a/pods/p:80/proxy',
  hosts: ['10.0.0.1:80', 'example.com'],
}

for (const [link, expected] of [
  ['/x', `${SOURCE.ownPath}/x`],
  ['/x/?a=/b#/c', `${SOURCE.ownPath}/x/?a=/b#/c`],
  ['//10.0.0.1:80/x', `${SOURCE.ownPath}/x`],
  ['http://example.com/x', `${SOURCE.ownPath}/x`],
  ['/../a//b', `${SOURCE.ownPath}/a/b`],
  [`${SOURCE.ownPath}/x`, `${SOURCE.ownPath}/x`],
  ['x/y', 'x/y'],
  ['#top', '#top'],
  ['mailto:a@example.com', 'mailto:a@example.com'],
  ['https://elsewhere.example/x', 'https://elsewhere.example/x'],
  ['', ''],
] as const)
  test(`a link to ${JSON.stringify(link)} leads to ${JSON.stringify(expected)}`, () => {
    assert.equal(passedLink(link, SOURCE), expected)
  })

async function rewritten(...chunks: readonly string[]): Promise<string> {
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk, 'latin1')
  }
  const all: Uint8Array[] = []
  for await (const chunk of withPassedLinks(source(), SOURCE)) all.push(chunk)
  return Buffer.concat(all).toString('latin1')
}

test('links are found in whatever pieces a page comes', async () => {
  assert.equal(
    await rewritten('<p title=/x>é<A HREF', "='/x' class=a>y</a><img src=/i", '.png>'),
    `<p title=/x>é<A HREF='${SOURCE.ownPath}/x' class=a>y</a><img src=${SOURCE.ownPath}/i.png>`,
  )
})

test('what has no end is passed on as it is', async () => {
  assert.equal(await rewritten('a < b', ' and <a href="/x"'), 'a < b and <a href="/x"')
})
