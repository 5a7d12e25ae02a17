import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from '../commands/fixtures.ts'

for (const [script, expected] of [
  [
    'A=x; cat <<EOF\nhi $A ${B:-b} $(echo "c  d") $((1+1)) `echo e`\nEOF\necho on',
    'hi x b c  d 2 e\non\n',
  ],
  [
    'A=x; cat <<\'EOF\'\n$A \\$A \\\nEOF\ncat <<\\E; cat <<E"N"D\n`\nE\n"$\nEND',
    '$A \\$A \\\n`\n"$\n',
  ],
  ['A=x; cat <<EOF\n\\$A \\\\ \\` \\" "$A\'s" \\\nEOF \nEOF', '$A \\ ` \\" "x\'s" EOF \n'],
  ['if true; then\n\tcat <<-EOF\n\t\ta\n\t b\n\tEOF\nfi; echo on', 'a\n b\non\n'],
  ['cat <<A - <<B; echo on\na\nA\nb\nB', 'b\non\n'],
  ['cat <<A | cat; cat <<B && echo c\na\nA\nb\nB', 'a\nb\nc\n'],
  ['while read a; do echo "<$a>"; done <<EOF\n1\n2  3\nEOF', '<1>\n<2  3>\n'],
  ['cat > /e/f <<EOF\nkept\nEOF\ncat /e/f', 'kept\n'],
  ['X=$(cat <<EOF\nit\'s ) "\nEOF\n); echo "$X" "$(cat <<E\n(\nE\n)"', 'it\'s ) " (\n'],
  ["echo $(echo a # it's )\n)", 'a\n'],
  ['echo "$(echo "a)b" ")")"', 'a)b )\n'],
  ['f() {\ncat <<EOF\n$1\nEOF\n}\nf a; f b', 'a\nb\n'],
  ['cat <<EOF\nto the end', 'to the end'],
  ['cat <<EOF', ''],
  ['cat <<EOF\nEOF', ''],
  ['cat <<', 'sh: syntax error: "<<" without a word behind it\n(2)'],
  ['cat <<< a', 'sh: syntax error: "<<" without a word behind it\n(2)'],
  [
    'echo $((1<<3))',
    'sh: arithmetic syntax error: "1<<3" is not known to simulated containers\n(2)',
  ],
] as const)
  test(script, async () => assert.equal(await saidWith({}, script), expected))
