import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changelogSection, parsed, withSection } from './changelog.ts'

const commits = (...messages: readonly string[]) =>
  messages.map((message, i) => parsed({ hash: String(i).repeat(40), message }))

test('a section has what users notice: by kind, then by place, then in the order of the commits', async () => {
  const section = await changelogSection(
    commits(
      'fix(store): a watch ends',
      'docs: words',
      'feat(gyro): `up` takes --port (and keeps it): #12\n\nWhy.\n\nfix #3, @someone',
      'feat(api): kinds',
      'fix(client): second of client',
      'feat: everywhere',
      'perf(client): sooner',
      'fix(client): another of client',
      'a subject of no kind',
    ),
    '0.2.0',
    '2026-11-22',
  )
  assert.equal(
    section,
    `## 0.2.0 (2026-11-22)

### Features

- everywhere (5555555)
- **api**: kinds (3333333)
- **gyro**: \`up\` takes --port (and keeps it): #12 (2222222)

### Fixes

- **client**: second of client (4444444)
- **client**: another of client (7777777)
- **store**: a watch ends (0000000)

### Performance

- **client**: sooner (6666666)
`,
  )
})

test('what breaks stands first, of whatever kind it is', async () => {
  const some = commits(
    'feat(client)!: the list is a page',
    'refactor(api): names\n\nBREAKING CHANGE: `Kind` is `KindName`',
  )
  assert.equal(
    await changelogSection(some, '1.0.0', '2026-11-22'),
    `## 1.0.0 (2026-11-22)

### Breaking changes

- \`Kind\` is \`KindName\`
- the list is a page

### Features

- **client**: the list is a page (0000000)
`,
  )
})

test('a release of nothing that users notice says so', async () => {
  assert.equal(
    await changelogSection(commits('test: more', 'docs: words'), '0.1.1', '2026-11-22'),
    '## 0.1.1 (2026-11-22)\n\nNothing that users would notice.\n',
  )
})

test('the newest release stands on top, under the title', () => {
  const first = withSection(undefined, '## 0.1.0\n\nFirst.\n')
  assert.equal(first, '# Changelog\n\n## 0.1.0\n\nFirst.\n')
  assert.equal(
    withSection(first, '## 0.2.0\n\nSecond.\n'),
    '# Changelog\n\n## 0.2.0\n\nSecond.\n\n## 0.1.0\n\nFirst.\n',
  )
})
