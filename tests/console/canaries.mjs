// Texts that somebody may choose as a name, a key or a remark. The page shows each as the text that
// it is, and does nothing else with it.
export const canaries = [
  '<script>window.canary=1</script>',
  '"><img src=x onerror=window.canary=1>',
  'javascript:window.canary=1',
  '{{7*7}}${7*7}',
  "' or 1=1 --",
  '../../etc/passwd',
  '~LmRvdA',
  'a%2Fb%00c',
  'ab\u202egnirts',
  'zero\u200bwidth',
  'e\u0301\u0301\u0301\u0301\u0301',
  '\u{1f9f1}\u{1f9f1}',
  '\u001b[31mred\u001b[0m',
  'x'.repeat(255),
]
