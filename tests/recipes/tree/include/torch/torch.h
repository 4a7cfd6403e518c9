#pragma once

int add(int a, int b);
int multiply(int a, int b);
int operators();
int part();
char const* version();
